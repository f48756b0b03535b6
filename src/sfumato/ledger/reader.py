"""A book to look at: nothing is made, nothing is changed, not even for a moment, and a writer at
work is not in the way.

SQLite keeps the latest entries in a log beside the file. While a writer has the book open, or after
one was killed, the log is read with it, through the log's index, which is only looked at. A book
that was closed has no log: it is read as it stands, and refused if it changed meanwhile. A log that
was copied without its index is read in a copy. The whole look is one unchanging view.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from ..errors import Refused
from . import book_queries
from .book import Ledger
from .receipts import Head, Verification
from .storage.fork_guard import open_here
from .storage.location import Url, place, server
from .storage.sqlite_schema import MAGIC, check
from .storage.sqlite_store import PATIENCE, Store

if TYPE_CHECKING:
    import apsw


class Looking:
    """A store that is only read: one view, and one inside another is the same."""

    _name: str
    _view: Any = None

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """One unchanging view."""
        if self._view is not None:
            yield self._view
            return
        try:
            with super().reading() as self._view:  # type: ignore[misc]  # of the store it is mixed into
                yield self._view
        finally:
            self._view = None

    def writing(self) -> NoReturn:
        """Refused."""
        raise Refused(
            "ledger.read-only",
            self._name,
            "the book was opened to be read; nothing was changed",
            "Ledger.open(path)",
        )


class Reader(Looking, Store):
    """One file, read only."""

    def __init__(self, path: Path) -> None:
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._stamp: tuple[int, int] | None = None  # of a book that is read as it stands
        super().__init__(path)

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """One view, of a book that did not change meanwhile."""
        try:
            with super().reading() as view:
                yield view
        except Refused:
            self._unchanged()
            raise
        if self._view is None:
            self._unchanged()

    def close(self) -> None:
        super().close()
        if self._copy is not None:
            self._copy.cleanup()

    def _unchanged(self) -> None:
        if self._stamp is not None and self.path is not None and self._stamp != _stamp(self.path):
            raise Refused(
                "ledger.busy",
                self._name,
                "the book changed while it was read; it was not touched",
                "try again",
            )

    def _beside(self) -> tuple[str, ...]:
        """None: a reader does not rest on the log's name."""
        return ()

    def _connect(self, name: str) -> apsw.Connection:
        import apsw

        place = Path(name)
        log, index = (place.with_name(place.name + ending) for ending in ("-wal", "-shm"))
        flags, how = apsw.SQLITE_OPEN_READONLY, "?mode=ro&readonly_shm=1"
        if not log.exists() or log.stat().st_size == 0:
            self._stamp, how = _stamp(place), "?immutable=1"
        elif not index.exists():
            place, flags, how = self._copied(place, log), apsw.SQLITE_OPEN_READWRITE, ""
        connection = apsw.Connection(
            f"file:{quote(str(place.absolute()))}{how}", flags=flags | apsw.SQLITE_OPEN_URI
        )
        try:
            connection.set_busy_timeout(PATIENCE)
            check(connection, self._name)
        except BaseException:
            connection.close()
            raise
        return connection

    def _copied(self, *files: Path) -> Path:
        self._copy = tempfile.TemporaryDirectory(prefix="sfumato-")
        first, *_ = [
            Path(shutil.copyfile(file, Path(self._copy.name) / file.name)) for file in files
        ]
        return first


class Book(dict[str, Ledger]):
    """The accounts of a book, by the names of their datasets."""

    def __init__(self, store: Store, names: list[str]) -> None:
        super().__init__({name: Ledger(store, name) for name in names})
        self._store = store

    def verify(self, head: Head | str | None = None) -> Verification:
        """Check the whole book against itself and against a head kept elsewhere."""
        return Ledger(self._store, "").verify(head)


@contextmanager
def reading(path: str | Path) -> Iterator[Book]:
    """A book to look at, in a file or on a server: whatever would change it is refused."""
    found = place(path)
    store: Any = server(found).reader() if isinstance(found, Url) else Reader(_book(Path(path)))
    try:
        with store.reading() as tx:
            yield Book(store, book_queries.datasets(tx))
    finally:
        store.close()


def _book(path: Path) -> Path:
    """A path at which there is a ledger, by its first bytes."""
    if path.is_dir():
        raise Refused(
            "ledger.path", path.name, "a ledger is a file, and this is a folder", "the file in it"
        )
    if open_here(str(path)):
        return path
    try:
        with path.open("rb") as file:
            first = file.read(len(MAGIC))
    except OSError:
        raise Refused(
            "ledger.path",
            path.name,
            "there is no such file, or it cannot be read; nothing was made",
            "the path of a ledger",
        ) from None
    if first != MAGIC:
        raise Refused(
            "ledger.format",
            path.name,
            "this file is something else than a ledger; it was not touched",
            "another path",
        )
    return path


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
