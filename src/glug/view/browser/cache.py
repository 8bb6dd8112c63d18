"""A few packets kept in memory, the least recently used dropped first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class ByteCache:
    """Holds at most `limit` bytes; what is larger than that is not kept. Threads may share it."""

    def __init__(self, limit: int):
        self.limit = limit
        self.size = 0
        self._entries: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: Hashable, make: Callable[[], bytes]) -> bytes:
        """The bytes kept under `key` if they are of this `version`, otherwise `make()`."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None and found[0] == version:
                self._entries.move_to_end(key)
                return found[1]
        data = make()
        with self._lock:
            self._drop(key)
            if len(data) <= self.limit:
                self._entries[key] = (version, data)
                self.size += len(data)
                while self.size > self.limit:
                    self._drop(next(iter(self._entries)))
        return data

    def _drop(self, key: Hashable) -> None:
        if key in self._entries:
            self.size -= len(self._entries.pop(key)[1])
