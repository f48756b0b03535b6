"""A wire between a book and its server that can be cut, or go silent, at any message."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from .books import SHARED_MEMORY

CUTS = ("unsent", "unheard", "silent")
"""The message does not reach the server; it does, but nobody hears the answer; nothing moves any
more, and nobody is told.
"""


class Wire:
    """Passes everything on. From the message numbered `at` on, once, what `how` says happens;
    connections made later are whole.
    """

    def __init__(self, target: Path, at: int = -1, how: str = "unsent") -> None:
        self.folder = Path(
            tempfile.mkdtemp(prefix="px", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None)
        )
        self.target, self.left, self.how, self.cut = target / ".s.PGSQL.5432", at, how, False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self._listener.listen(32)
        self._ends: list[socket.socket] = [self._listener]
        self._deaf: set[socket.socket] = set()
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        for end in self._ends:
            _shut(end)
            end.close()
        shutil.rmtree(self.folder)

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.target))
                self._ends += [client, server]
                threading.Thread(target=self._asks, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answers, args=(client, server), daemon=True).start()

    def _asks(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while message := client.recv(1 << 20):
                self.left -= 1
                if self.left == -1:
                    self.cut = True
                    if self.how == "silent":
                        return
                    if self.how == "unsent":
                        break
                    self._deaf.add(server)
                server.sendall(message)
        _shut(client)
        _shut(server)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while (answer := server.recv(1 << 20)) and server not in self._deaf:
                client.sendall(answer)
        _shut(client)
        _shut(server)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
