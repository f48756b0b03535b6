"""Open a book read-only: create nothing, change nothing, and never block or wait for a writer.

SQLite keeps the latest entries in a log next to the file. While a writer has the book open, or
after it was killed, the reader reads the log through its index, without writing to either. A closed
book has no log: the reader reads the file, and refuses if it changed meanwhile. A log copied
without its index is read in a temporary copy. All reads of one opening see the same snapshot.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from ..errors import Refused
from ..storage.database_url import Url
from ..storage.file_versions import MAGIC
from ..storage.fork_guard import is_open_here
from ..storage.sqlite_store import PATIENCE
from . import book_queries
from . import ledger_refusals as refusals
from .book import Ledger
from .ledger_refusals import NOT_TOUCHED
from .receipts import Head, Verification
from .storage.book_store import BookStore, BookTransaction
from .storage.location import open_server, parse_location
from .storage.sqlite_schema import check

if TYPE_CHECKING:
    import apsw


class ReadOnlyStore:
    """Mixin for a read-only store. Nested reads share one snapshot."""

    _name: str
    _view: BookTransaction | None = None

    @contextmanager
    def reading(self) -> Iterator[BookTransaction]:
        """Open a snapshot."""
        if self._view is not None:
            yield self._view
            return
        try:
            reading = super().reading  # type: ignore[misc]  # BookStore has it
            with reading() as self._view:
                yield self._view
        finally:
            self._view = None

    def writing(self) -> NoReturn:
        """Refuse to write."""
        raise refusals.OPENED_READ_ONLY(name=self._name)


class FileReader(ReadOnlyStore, BookStore):
    """One file, read only."""

    def __init__(self, path: Path) -> None:
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._stamp: tuple[int, int] | None = None  # of a file without a log
        super().__init__(path)

    @contextmanager
    def reading(self) -> Iterator[BookTransaction]:
        """Open a snapshot; refuse if the file changed while it was read."""
        try:
            with super().reading() as view:
                yield view
        except Refused:
            self._check_unchanged()
            raise
        if self._view is None:
            self._check_unchanged()

    def close(self) -> None:
        super().close()
        if self._copy is not None:
            self._copy.cleanup()

    def _check_unchanged(self) -> None:
        if (
            self._stamp is not None
            and self.path is not None
            and self._stamp != _file_stamp(self.path)
        ):
            raise refusals.CHANGED_WHILE_READ(name=self._name)

    def _log_files(self) -> tuple[str, ...]:
        """A reader does not depend on the names of the log files."""
        return ()

    def _connect(self, name: str) -> apsw.Connection:
        import apsw

        place = Path(name)
        log, index = (place.with_name(place.name + ending) for ending in ("-wal", "-shm"))
        flags, how = apsw.SQLITE_OPEN_READONLY, "?mode=ro&readonly_shm=1"
        if not log.exists() or log.stat().st_size == 0:
            self._stamp, how = _file_stamp(place), "?immutable=1"
        elif not index.exists():
            place, flags, how = self._copy_files(place, log), apsw.SQLITE_OPEN_READWRITE, ""
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

    def _copy_files(self, *files: Path) -> Path:
        self._copy = tempfile.TemporaryDirectory(prefix="sfumato-")
        first, *_ = [
            Path(shutil.copyfile(file, Path(self._copy.name) / file.name)) for file in files
        ]
        return first


class Book(dict[str, Ledger]):
    """The accounts of a book, by dataset name."""

    def __init__(self, store: BookStore, names: list[str]) -> None:
        super().__init__({name: Ledger(store, name) for name in names})
        self._store = store

    def __repr__(self) -> str:
        return f"<sfumato book {self._store._name}: {', '.join(self) or 'no dataset'}>"

    def verify(self, head: Head | str | None = None) -> Verification:
        """Check the whole book against itself and against a head kept elsewhere."""
        return Ledger(self._store, "").verify(head)


@contextmanager
def reading(path: str | Path) -> Iterator[Book]:
    """Open a book read-only, in a file or on a server. Refuses every change."""
    location = parse_location(path)
    store: BookStore = (
        open_server(location).reader()
        if isinstance(location, Url)
        else FileReader(_check_is_ledger(Path(path)))
    )
    try:
        with store.reading() as tx:
            yield Book(store, book_queries.datasets(tx))
    finally:
        store.close()


def _check_is_ledger(path: Path) -> Path:
    """Return the path if its first bytes are those of a ledger; refuse otherwise."""
    if path.is_dir():
        raise refusals.PATH_IS_FOLDER(name=path.name)
    if is_open_here(str(path)):
        return path
    try:
        with path.open("rb") as file:
            first = file.read(len(MAGIC))
    except OSError:
        raise refusals.FILE_UNREADABLE(name=path.name) from None
    if first != MAGIC:
        raise refusals.NOT_A_LEDGER(name=path.name, outcome=NOT_TOUCHED)
    return path


def _file_stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
