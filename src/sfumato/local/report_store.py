"""ReportStore: keep reports for a number of days, by question and day, and nothing else about them.

*Keeps*    For each question (by its mark) and day, how often each report came. Not who sent it, nor
           when within the day, nor in which order: a file that is copied does not tell them.
*Forgets*  Reports that are older than `days` are deleted when a store is opened, and whenever it is
           used: the pages that held them are overwritten with zeros. Copies of the file, snapshots
           of a file system and worn blocks of a disk are the operator's to delete.
*Promise*  None of its own: each report keeps the ε of its oracle, for ever. A limit of days limits
           what a thief finds, and how much of a person's months can be laid side by side.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from ..exact.numbers import is_whole
from . import local_refusals as refusals
from .oracle import Oracle
from .wire_reports import Reports

TABLE = """CREATE TABLE IF NOT EXISTS reports (
    mark BLOB, day INTEGER, payload BLOB, count INTEGER, PRIMARY KEY (mark, day, payload)
) WITHOUT ROWID"""
COUNT = """INSERT INTO reports VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count"""
MOST_DAYS = 36_500


class ReportStore:
    """Reports of the last days in one SQLite file, which several processes may use."""

    def __init__(self, path: str | Path, *, days: int = 90) -> None:
        if not is_whole(days, 1, MOST_DAYS):
            raise refusals.DAYS_OUT_OF_RANGE(days=days, most=MOST_DAYS)
        self.path, self.days = Path(path), days
        self.expire()

    def add(
        self, oracle: Oracle, reports: Reports | bytes | Iterable[bytes], *, day: int | None = None
    ) -> int:
        """Keep reports of a day, which is today unless told, and return their number. Days count
        from 1970. Bytes that are no report to the question are refused, and nothing is kept.
        """
        checked = oracle.read(reports)
        width = checked.payload.shape[1]
        rows, counts = np.unique(checked.payload, axis=0, return_counts=True)
        date = _today() if day is None else day
        blobs = [rows[i].tobytes() for i in range(len(rows))] if width else []
        with self._transaction() as store:
            store.executemany(
                COUNT,
                (
                    (checked.mark, date, blob, count)
                    for blob, count in zip(blobs, counts.tolist(), strict=True)
                ),
            )
        return len(checked)

    def reports(
        self, oracle: Oracle, *, since: int | None = None, until: int | None = None
    ) -> Reports:
        """Return the reports to a question from these days, sorted by their bytes."""
        with self._transaction() as store:
            rows_of_days = store.execute(
                "SELECT payload, sum(count) FROM reports WHERE mark = ? AND day BETWEEN ? AND ?"
                " GROUP BY payload ORDER BY payload",
                [
                    oracle.mark,
                    -_FAR if since is None else since,
                    _FAR if until is None else until,
                ],
            ).fetchall()
        rows = np.frombuffer(b"".join(payload for payload, _ in rows_of_days), dtype=np.uint8)
        counts = np.array([count for _, count in rows_of_days], dtype=np.int64)
        return Reports(oracle.mark, np.repeat(rows.reshape(-1, oracle.width), counts, axis=0))

    def days_kept(self, oracle: Oracle) -> dict[int, int]:
        """Return the number of reports to a question on each day that has some."""
        with self._transaction() as store:
            query = "SELECT day, sum(count) FROM reports WHERE mark = ? GROUP BY day ORDER BY day"
            return dict(store.execute(query, [oracle.mark]))

    def expire(self, *, day: int | None = None) -> int:
        """Delete the reports that are older than `days` on this day, today unless told, and return
        how many there were.
        """
        with self._transaction() as store:
            return _expire(store, self.days, _today() if day is None else day)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, isolation_level=None, timeout=60)) as store:
                store.execute("PRAGMA secure_delete = ON")
                store.execute("BEGIN IMMEDIATE")
                store.execute(TABLE)
                _expire(store, self.days, _today())
                yield store
                store.execute("COMMIT")
        except sqlite3.Error as error:
            raise refusals.STORE_UNUSABLE(path=self.path, why=error) from None


_FAR = 1 << 40


def _today() -> int:
    return int(time.time() // 86_400)


def _expire(store: sqlite3.Connection, days: int, today: int) -> int:
    old = "FROM reports WHERE day <= ?"
    ((count,),) = store.execute(f"SELECT coalesce(sum(count), 0) {old}", [today - days])
    store.execute(f"DELETE {old}", [today - days])
    return int(count)
