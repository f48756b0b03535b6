"""A store of reports: it returns what was added, in no order, and forgets what is too old."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Direct, FragmentPuzzle, ReportStore
from sfumato.testing import SeededBits

ORACLE = Direct(epsilon=1, categories=list("abcd"))
LONG = FragmentPuzzle(epsilon=1, length=3)


def today() -> int:
    return int(time.time() // 86_400)


def test_reports_come_back_sorted_whatever_their_order(tmp_path: Path) -> None:
    store = ReportStore(tmp_path / "reports.db")
    reports = ORACLE.perturb(list("abca") * 10, bits=SeededBits(1))
    assert store.add(ORACLE, reports) == 40
    assert store.add(ORACLE, [reports[0]], day=today() - 1) == 1
    again = store.reports(ORACLE)
    assert len(again) == 41
    assert (np.diff(again.payload[:, 0].astype(int)) >= 0).all()
    assert len(store.reports(ORACLE, since=today())) == 40
    assert len(store.reports(ORACLE, until=today() - 1)) == 1
    assert ORACLE.estimate(store.reports(ORACLE, since=today())).counts.tolist() == (
        ORACLE.estimate(reports).counts.tolist()
    )
    backwards = ReportStore(tmp_path / "backwards.db")
    for i in reversed(range(40)):
        backwards.add(ORACLE, [reports[i]])
    assert backwards.reports(ORACLE).to_bytes() == store.reports(ORACLE, since=today()).to_bytes()


def test_questions_are_kept_apart(tmp_path: Path) -> None:
    store = ReportStore(tmp_path / "reports.db")
    store.add(ORACLE, ORACLE.perturb(["a"] * 5))
    store.add(LONG, LONG.perturb(["é"] * 3))
    assert store.days_kept(ORACLE) == {today(): 5}
    assert store.days_kept(LONG) == {today(): 3}
    assert len(LONG.read(store.reports(LONG))) == 3


def test_old_reports_are_deleted_and_their_bytes_overwritten(tmp_path: Path) -> None:
    """Seven days: the day before them is gone, also from the bytes of the file."""
    path = tmp_path / "reports.db"
    store = ReportStore(path, days=7)
    secret = LONG.perturb(["old"], bits=SeededBits(5))
    store.add(LONG, secret, day=today() - 6)
    payload = secret.payload[0].tobytes()
    assert payload in path.read_bytes()
    assert store.expire(day=today()) == 0
    assert store.expire(day=today() + 1) == 1
    assert payload not in path.read_bytes()
    assert store.days_kept(LONG) == {}
    store.add(LONG, secret, day=today() - 7)
    assert store.days_kept(LONG) == {}  # too old the next time that it is used
    longer = ReportStore(tmp_path / "longer.db", days=30)
    longer.add(LONG, secret, day=today() - 7)
    assert ReportStore(tmp_path / "longer.db", days=7).days_kept(LONG) == {}


def test_what_is_no_report_is_not_kept(tmp_path: Path) -> None:
    store = ReportStore(tmp_path / "reports.db")
    with pytest.raises(Refused):
        store.add(ORACLE, [ORACLE.perturb(["a"])[0], b"nonsense"])
    assert store.days_kept(ORACLE) == {}
    assert store.add(ORACLE, []) == 0
    assert len(store.reports(ORACLE)) == 0


def test_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, though long enough to be one" * 20)
    for path, days in ((tmp_path / "x.db", 0), (tmp_path / "text", 9), (tmp_path / "a" / "b", 9)):
        with pytest.raises(Refused) as refused:
            ReportStore(path, days=days)
        assert refused.value.code == "local.store"
