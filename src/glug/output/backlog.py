"""Work that is done later, in order, by a thread of its own: files that are written while a simulation goes on."""

import queue
import threading
from collections.abc import Callable

WAITING = 2  # jobs, besides the one in work: a frame and a checkpoint


class Backlog:
    """Jobs are done one after the other. The first that fails ends it: later ones are dropped, and the next call to
    `add` or `finish` raises its error.
    """

    def __init__(self) -> None:
        self._jobs: queue.Queue[Callable[[], None]] = queue.Queue(WAITING)
        self._error: BaseException | None = None
        threading.Thread(target=self._work, daemon=True).start()

    def add(self, job: Callable[[], None]) -> None:
        """Do `job` after those before it; waits while too many do."""
        self._raise()
        self._jobs.put(job)

    def finish(self) -> None:
        """Wait until everything is done."""
        self._jobs.join()
        self._raise()

    def drop(self) -> None:
        """Leave what is not yet begun, and wait for what is."""
        self._error = self._error or InterruptedError("left")
        self._jobs.join()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                if self._error is None:
                    job()
            except BaseException as error:
                self._error = error
            finally:
                self._jobs.task_done()
