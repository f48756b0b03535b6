"""Reports as they travel: versions, marks, lengths; what was written in version 1 is read for
ever.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Direct, Reports, Unary, restore
from sfumato.local.wire_reports import pack_integers, unpack_integers, width_for
from sfumato.testing import SeededBits

STORED = Path(__file__).parents[1] / "vectors" / "stored" / "local-v1.jsonl"
ORACLE = Unary(epsilon=1, categories="abcdefghij")


def test_one_report() -> None:
    reports = ORACLE.perturb(list("abc"))
    assert len(reports) == len(list(reports)) == 3
    assert len(reports[0]) == 1 + 3 + 2
    assert reports[0][0] == 1
    assert reports[0][1:4] == ORACLE.mark
    assert repr(reports) == f"Reports(3 of 6 bytes, question {ORACLE.mark.hex()})"
    assert (ORACLE.read(list(reports)).payload == reports.payload).all()


def test_a_file_of_reports() -> None:
    reports = ORACLE.perturb(list("abcde"))
    data = reports.to_bytes()
    assert len(data) == 16 + 5 * 2
    assert (ORACLE.read(data).payload == reports.payload).all()
    other_oracle = Direct(epsilon=1, categories="abcdefghij")
    for wrong in (
        b"",
        data[:-1],
        data + b"\0",
        b"XXXX" + data[4:],
        data[:4] + b"\2" + data[5:],
        data[:8] + b"\xff" * 8 + data[16:],
        data[:12],
    ):
        with pytest.raises(Refused) as refused:
            ORACLE.read(wrong)
        assert refused.value.code == "local.report"
    with pytest.raises(Refused):
        other_oracle.read(data)


@pytest.mark.parametrize(
    "blob", [b"", b"\1", b"\2" + bytes(5), bytes(6), bytes(7), "text", None], ids=repr
)
def test_what_is_no_report(blob: bytes) -> None:
    good = ORACLE.perturb("a")[0]
    with pytest.raises(Refused) as refused:
        ORACLE.read([good, blob])
    assert refused.value.place == "report 1"
    assert len(ORACLE.read([good, blob], drop=True)) == 1


def test_parts_are_joined() -> None:
    a, b = ORACLE.perturb(list("abc")), ORACLE.perturb(list("de"))
    assert len(a + b) == 5
    with pytest.raises(Refused):
        a + Unary(epsilon=2, categories="abcdefghij").perturb("a")
    with pytest.raises(Refused):
        ORACLE.read(Reports(b"abc", a.payload))


@pytest.mark.parametrize("limit", [2, 256, 257, 65536, 65537, 1 << 31])
def test_whole_numbers(limit: int) -> None:
    numbers = np.array([0, 1, limit // 2, limit - 1])
    rows = pack_integers(numbers, width_for(limit))
    assert rows.shape == (4, ((limit - 1).bit_length() + 7) // 8)
    assert unpack_integers(rows).tolist() == numbers.tolist()
    assert rows[3].tobytes() == (limit - 1).to_bytes(rows.shape[1], "big")


@pytest.mark.parametrize(
    "line",
    STORED.read_text(encoding="utf-8").splitlines(),
    ids=lambda line: json.loads(line)["name"],
)
def test_stored_reports_are_read(line: str) -> None:
    """A question and reports to it, as version 1 wrote them: the restored oracle counts the
    same.
    """
    stored = json.loads(line)
    oracle = restore(stored["question"])
    assert (
        oracle.aggregate([bytes.fromhex(report) for report in stored["reports"]]).counts.tolist()
        == stored["counts"]
    )
    assert oracle.aggregate(bytes.fromhex(stored["file"])).counts.tolist() == stored["counts"]


def test_seeded_reports_are_repeatable() -> None:
    assert (
        ORACLE.perturb(list("abc"), bits=SeededBits(1)).to_bytes()
        == ORACLE.perturb(list("abc"), bits=SeededBits(1)).to_bytes()
    )
