"""What strangers may try on the viewer's server: it goes on answering, and serves nothing but the run and its page."""

import http.client
import os
import socket
import threading
import time
from pathlib import Path

import pytest
from viewer_runs import write_run

from glug.view.browser.feed import Feed
from glug.view.browser.server import MOST_CONNECTIONS, Server, listen


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("viewer")
    (folder / "secret.txt").write_text("nobody's business")
    run = write_run(folder / "run")
    (run.path / "surface" / "9999.ply").symlink_to(folder / "secret.txt")
    listener = listen("127.0.0.1", None)
    server = Server(listener, Feed(run.path), None)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield listener.getsockname()[1]
    server.shutdown()
    server.server_close()


def ask(port, path, **headers):
    """Status and body, the path as it is: no client tidies it up."""
    head = "".join(
        f"{name.replace('_', '-')}: {value}\r\n" for name, value in ({"Host": "127.0.0.1"} | headers).items()
    )
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode("latin-1"))
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.read()


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/web/../../secret.txt",
        "/web/%2e%2e/%2e%2e/secret.txt",
        "/web/..%2f..%2fsecret.txt",
        "//secret.txt",
        "/web//etc/hostname",
        "/api/surface/../../secret.txt",
        "/api/surface/9999",
        "/api/surface/-1",
        "/api/surface/999999999999",
        "/api/slice/3?quantity=../../secret&axis=0&at=0",
        "/api/slice/3?quantity=pressure&axis=99&at=nan",
        "/api/stats?from=nan",
        "/web/app.js\\..\\..\\secret.txt",
        "/scene.toml",
        "/manifest.json",
    ],
)
def test_nothing_else_is_served(port, path):
    status, body = ask(port, path)
    assert status in (400, 404)
    assert b"nobody" not in body


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "[::1].evil", ""])
def test_another_name_is_turned_away(port, host):
    assert ask(port, "/api/run", Host=host)[0] in (400, 403)


def test_long_lines_and_many_headers_end_one_connection_only(port):
    assert ask(port, "/" + "a" * 70_000)[0] == 414
    assert ask(port, "/api/run", **{f"X_{n}": "y" for n in range(300)})[0] == 431
    assert ask(port, "/api/run")[0] == 200


def besiege(port, count, seconds):
    """Hold many connections open that never finish their request; how many times the server answered meanwhile."""
    held, answered = [], 0
    try:
        end = time.monotonic() + seconds
        while len(held) < count or time.monotonic() < end:
            if len(held) < count:
                connection = socket.create_connection(("127.0.0.1", port), timeout=5)
                connection.sendall(b"GET /api/run HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
                held.append(connection)
            else:
                time.sleep(0.2)
            if len(held) % 100 == 0:
                answered += ask(port, "/api/run")[0] == 200
    finally:
        for connection in held:
            connection.close()
    return answered


def test_slow_connections_keep_nobody_out(port):
    before = threading.active_count()
    assert besiege(port, 2 * MOST_CONNECTIONS, 0.0) >= 4
    assert ask(port, "/api/run")[0] == 200
    assert threading.active_count() < before + MOST_CONNECTIONS + 50


@pytest.mark.slow
def test_two_thousand_slow_connections_for_a_minute(port):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    assert besiege(port, 2000, 60.0) > 50
    assert ask(port, "/api/run")[0] == 200
    assert len(list(Path("/proc/self/fd").iterdir())) < 1000 or os.name != "posix"
