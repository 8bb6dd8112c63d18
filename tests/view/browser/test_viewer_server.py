"""Who may ask the viewer's server, and what it answers."""

import http.client
import json
import socket
import threading

import pytest
from viewer_runs import write_run

from glug.errors import InputError
from glug.view.browser.feed import Feed
from glug.view.browser.packets import unpack
from glug.view.browser.server import Server, address, is_loopback, listen, new_token


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("viewer") / "run")


class Client:
    """Asks one server; the connection is kept, as a browser keeps it."""

    def __init__(self, run, token=None):
        self.listener = listen("127.0.0.1", None)
        self.port = self.listener.getsockname()[1]
        self.server = Server(self.listener, Feed(run.path), token)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def __call__(self, path, method="GET", **headers):
        self.connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = self.connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def close(self):
        self.connection.close()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def ask(run):
    client = Client(run)
    yield client
    client.close()


@pytest.fixture
def ask_with_token(run):
    client = Client(run, token="correct-horse")
    yield client
    client.close()


def test_the_page_and_all_it_names_are_served(ask):
    status, headers, page = ask("/")
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    for name in ("app.js", "stage.js", "style.css", "drop.svg", "vendor/three.js", "vendor/uplot.css"):
        status, headers, body = ask(f"/web/{name}")
        assert status == 200, name
        assert len(body) == int(headers["Content-Length"]) > 100
    assert b"http://" not in page
    assert b"https://" not in page


def test_frames_come_as_packets(ask):
    status, headers, body = ask("/api/surface/3")
    assert (status, headers["Content-Type"]) == (200, "application/octet-stream")
    assert unpack(body)[0]["index"] == 3
    for path in ("particles/3?colour=temperature", "slice/3?quantity=pressure&axis=2&at=0.5", "solid/0"):
        assert ask(f"/api/{path}")[0] == 200


def test_overview_and_steps_are_json(ask):
    assert json.loads(ask("/api/run")[2])["name"] == "falling-ball"
    assert json.loads(ask("/api/stats?from=4")[2])["total"] == 10


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/surface/99", 404),
        ("/api/surface/-1", 404),
        ("/api/surface/x", 404),
        ("/api/slice/1", 400),
        ("/api/slice/1?quantity=speed&axis=x&at=0", 400),
        ("/api/slice/1?quantity=speed&axis=1&at=nan", 404),
        ("/api/stats?from=no", 400),
        ("/nothing", 404),
        ("/web/../server.py", 404),
        ("/web/%2e%2e/server.py", 404),
        ("/web/vendor/../../server.py", 404),
        ("/web//etc/passwd", 404),
        ("/web/server.py", 404),
    ],
)
def test_what_is_not_there_is_answered_in_one_line(ask, path, status):
    found, headers, body = ask(path)
    assert found == status
    assert headers["Content-Type"] == "application/json"
    assert "Traceback" not in json.loads(body)["error"]
    assert ask("/api/run")[0] == 200


def test_a_truncated_frame_is_named_and_the_others_are_served(run, tmp_path):
    cut = write_run(tmp_path / "cut")
    path = cut.file("surface", 2)
    path.write_bytes(path.read_bytes()[:-7])
    client = Client(cut)
    try:
        status, _, body = client("/api/surface/2")
        assert status == 404
        assert "0002.ply: truncated" in json.loads(body)["error"]
        assert client("/api/surface/3")[0] == 200
    finally:
        client.close()


def test_only_reading_is_possible(ask):
    for method in ("POST", "PUT", "DELETE"):
        assert ask("/api/run", method)[0] == 501
    status, headers, body = ask("/api/surface/0", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 1000


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "192.168.1.2", ""])
def test_on_this_machine_another_name_in_the_address_is_turned_away(ask, host):
    assert ask("/api/run", Host=host)[0] == 403
    assert ask("/api/run", Host="localhost:1")[0] == 200


@pytest.mark.parametrize("path", ["/", "/api/run", "/api/surface/1", "/web/app.js", "/api/run?token=", "/?token=wrong"])
def test_without_the_token_nothing_is_told(ask_with_token, path):
    status, headers, body = ask_with_token(path)
    assert status == 403
    assert b"falling" not in body
    assert "Set-Cookie" not in headers
    assert ask_with_token(path, Cookie=f"glug-{ask_with_token.port}=wrong")[0] == 403
    assert ask_with_token(path, Cookie="glug;;=,\x01")[0] == 403


def test_the_token_is_asked_for_once_and_then_kept_in_a_cookie(ask_with_token):
    status, headers, _ = ask_with_token("/?token=correct-horse")
    assert (status, headers["Location"]) == (303, "/")
    cookie, *attributes = headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(attributes)
    assert ask_with_token("/api/run", Cookie=cookie)[0] == 200
    assert ask_with_token("/", Cookie=cookie, Host="any.example")[0] == 200


def test_only_loopback_addresses_need_no_token():
    with listen("127.0.0.1", None) as here, listen("0.0.0.0", None) as everywhere:
        assert new_token(here) is None
        first, second = new_token(everywhere), new_token(everywhere)
        assert first != second
        assert len(first) >= 32
        assert address(everywhere, first).endswith(f"/?token={first}")
        assert address(here, None) == f"http://127.0.0.1:{here.getsockname()[1]}/"
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("10.0.0.1")
    assert not is_loopback("localhost.evil.example")


def test_a_port_in_use_is_refused_when_asked_for_and_passed_over_otherwise():
    with listen("127.0.0.1", None) as first:
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=rf"127\.0\.0\.1:{port}.*--port"):
            listen("127.0.0.1", port)
        with listen("127.0.0.1", None) as second:
            assert second.getsockname()[1] != port


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_the_newer_kind_of_address_works_too():
    try:
        listener = listen("::1", None)
    except InputError as error:
        pytest.skip(str(error))
    with listener:
        assert new_token(listener) is None
        assert address(listener, None).startswith("http://[::1]:")


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(InputError, match=r"192\.0\.2\.1"):
        listen("192.0.2.1", None)
    with pytest.raises(InputError, match="no such address"):
        listen("no such host", None)


def test_a_caller_that_leaves_in_the_middle_disturbs_nobody(ask):
    with socket.create_connection(("127.0.0.1", ask.port)) as caller:
        caller.sendall(b"GET /api/surface/3 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        caller.recv(10)
    with socket.create_connection(("127.0.0.1", ask.port)) as caller:
        caller.sendall(b"\x16\x03\x01 not http\r\n\r\n")
    assert ask("/api/surface/3")[0] == 200
