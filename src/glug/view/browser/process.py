"""Running the viewer: in this process until Ctrl-C, or beside a simulation in a process of its own."""

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

from glug.errors import InputError
from glug.output import RunFolder
from glug.view.browser.feed import Feed
from glug.view.browser.server import Server, address, listen, new_token

NICENESS = 10  # a simulation goes first
_FAULTS_NAMED = 2


def require_frames(path: Path, *, damaged: bool) -> list[str]:
    """InputError if there is nothing to look at in `path`, or frames are missing or cut.

    `damaged` allows the latter as long as one frame is whole; what is wrong is returned, a line per frame.
    """
    folder = RunFolder(path)
    faults = folder.faults()
    lines = list(faults.values())
    running = not folder.manifest().get("complete")
    if not folder.frames() and running:
        raise InputError(f"{path}: has no frames yet; look again once the first is written")
    if faults and (not damaged or not set(folder.frames()) - set(faults)):
        more = f", and {len(lines) - _FAULTS_NAMED} more frames" if len(lines) > _FAULTS_NAMED else ""
        named = "; ".join(lines[:_FAULTS_NAMED])
        hint = "" if damaged else "; look at the others with --damaged"
        raise InputError(f"{named}{more}{hint}")
    return lines


class Viewer:
    """Listens at `url` from the beginning, answers once it serves."""

    def __init__(self, path: Path, host: str, port: int | None):
        """InputError if it cannot listen there; `port` None takes any."""
        self.path = path
        self._listener = listen(host, port)
        self._token = new_token(self._listener)
        self.url = address(self._listener, self._token)
        self.process: BaseProcess | None = None  # of its own, beside a simulation

    def serve(self, browser: bool = False) -> None:
        """Serve until Ctrl-C; `browser` opens the page."""
        with Server(self._listener, Feed(self.path), self._token) as server:
            if browser:
                webbrowser.open(self.url)
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()

    @contextlib.contextmanager
    def beside(self, browser: bool = False) -> Iterator[Callable[[], None]]:
        """Serve a run that is about to begin from a process of its own, until the block ends.

        What the block gets, called, goes on serving until Ctrl-C.
        """
        process = multiprocessing.get_context("spawn").Process(
            target=_serve_beside, args=(self._listener, self.path, self._token), name="glug-view", daemon=True
        )
        process.start()
        self.process = process
        self._listener.close()
        if browser:
            webbrowser.open(self.url)

        def wait() -> None:
            with contextlib.suppress(KeyboardInterrupt):
                process.join()

        try:
            yield wait
        finally:
            process.terminate()
            process.join()


def _serve_beside(listener: socket.socket, path: Path, token: str | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the simulation, which ends this process
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with Server(listener, Feed(path, awaited=True), token) as server:
        server.serve_forever()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)
