"""The viewer's server: the page, and the answers of a `Feed`, over HTTP on one address.

Who may ask: on a loopback address everyone on this machine, as long as the browser was told a loopback name (a page
elsewhere on the web whose name is made to point here is turned away); on any other address those who know the token,
which comes once in the address that `glug view` prints and then as a cookie. Nothing can be changed through it.
"""

import hmac
import ipaddress
import json
import os
import re
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from glug.errors import GlugError, InputError
from glug.view.browser.feed import Feed

PORT = 8080  # if it is free
_WEB = files("glug.view.browser") / "web"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_FILE = re.compile(r"/web/((?:[a-z0-9_-]+/)?[A-Za-z0-9_-]+(\.[a-z]+))")
_FRAME = re.compile(r"/api/(surface|particles|slice|solid)/([0-9]{1,9})")
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+))(?::[0-9]{1,5})?")
_IDLE_SECONDS = 60.0
MOST_CONNECTIONS = 256
_SAFE = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on `host` and `port`; None takes PORT or, where that is taken, any that is free.

    InputError if the address is not this machine's or the port is taken.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InputError(f"--host {host}: no such address") from None
    # Names such as localhost may have two addresses: the older kind first.
    family, *_, address = sorted(found, key=lambda entry: entry[0] != socket.AF_INET)[0]
    refused: OSError | None = None
    for attempt in (PORT, 0) if port is None else (port,):
        try:
            return socket.create_server((address[0], attempt), family=family, backlog=64)
        except OSError as error:
            refused = error
    assert refused is not None
    where = f"{host}:{port if port is not None else PORT}"
    raise InputError(
        f"cannot listen on {where}: {os.strerror(refused.errno or 0)}; choose another with --port or --host"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_token(listener: socket.socket) -> str | None:
    """What callers must know; None on a loopback address."""
    return None if is_loopback(listener.getsockname()[0]) else secrets.token_urlsafe(24)


def address(listener: socket.socket, token: str | None) -> str:
    """The address to open in a browser."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


class Server(ThreadingHTTPServer):
    """Serves a `Feed` on a socket that listens already. A thread per connection; the feed's cache bounds memory.

    Of more connections than a browser and its reloads ever have, the oldest are dropped: whoever holds many open
    keeps nobody out.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, listener: socket.socket, feed: Feed, token: str | None):
        super().__init__(listener.getsockname()[:2], Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.feed = feed
        self.token = token
        self._open: dict[Any, None] = {}  # the connections, oldest first
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open[request] = None
            oldest = next(iter(self._open)) if len(self._open) > MOST_CONNECTIONS else None
            self._open.pop(oldest, None)
        if oldest is not None:
            with suppress(OSError):  # it has gone by itself
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    @property
    def cookie(self) -> str:
        """Cookies are kept by host, whatever the port."""
        return f"glug-{self.socket.getsockname()[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is no news."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection's requests."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "glug"
    sys_version = ""
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer, or say in one line of JSON why not."""
        url = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(url.query).items()}
        if not self._admitted(query):
            return
        try:
            answer = self._answer(url.path, query)
        except GlugError as error:
            self._fail(404, str(error))
        except (KeyError, ValueError) as error:
            self._fail(400, f"not understood: {error}")
        except OSError as error:
            self._fail(500, f"cannot read: {error.strerror}")
        else:
            if answer is None:
                self._fail(404, "no such page")
            else:
                self._send(200, *answer)

    def do_HEAD(self) -> None:
        """The same without the body."""
        self.do_GET()

    def _admitted(self, query: dict[str, str]) -> bool:
        """Whether the caller may ask; otherwise it has been answered."""
        token = self.server.token
        if token is None:
            found = _HOST.fullmatch(self.headers.get("Host", ""))
            host = (found[1] or found[2]) if found else ""
            if not is_loopback(host):
                self._fail(403, "open this viewer by the address that glug view printed")
            return is_loopback(host)
        if "token" in query and _same(query["token"], token):
            if urlsplit(self.path).path != "/":
                return True
            cookie = f"{self.server.cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
            self._send(303, "text/plain; charset=utf-8", b"", {"Location": "/", "Set-Cookie": cookie})
            return False
        if _same(self._cookie(), token):
            return True
        self._fail(403, "the token is missing or wrong: open the address that glug view printed, with its token")
        return False

    def _cookie(self) -> str:
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie)
        except CookieError:
            return ""
        return found.value if found is not None else ""

    def _answer(self, path: str, query: dict[str, str]) -> tuple[str, bytes] | None:
        feed = self.server.feed
        if path == "/":
            path = "/web/index.html"
        if match := _FILE.fullmatch(path):
            file = _WEB.joinpath(*match[1].split("/"))
            return (_TYPES[match[2]], file.read_bytes()) if match[2] in _TYPES and file.is_file() else None
        if path == "/api/run":
            return _json(feed.overview())
        if path == "/api/stats":
            return _json(feed.stats(max(0, int(query.get("from", 0)))))
        if match := _FRAME.fullmatch(path):
            number = int(match[2])
            packets: dict[str, Callable[[], bytes]] = {
                "surface": lambda: feed.surface(number, query.get("colour", "material")),
                "particles": lambda: feed.particles(number, query.get("colour", "speed")),
                "slice": lambda: feed.slice(number, query["quantity"], int(query["axis"]), float(query["at"])),
                "solid": lambda: feed.solid(number, int(query.get("frame", 0))),
            }
            return "application/octet-stream", packets[match[1]]()
        return None

    def _fail(self, code: int, why: str) -> None:
        self._send(code, *_json({"error": why}))

    def _send(self, code: int, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {**_SAFE, "Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: addresses may hold the token."""


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _json(data: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(data, allow_nan=False, separators=(",", ":")).encode()
