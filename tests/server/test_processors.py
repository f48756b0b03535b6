"""Who serves and who reads share no processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.server.workers import processors
from sfumato.server.workers.processors import available, group_by_core, split_cores

SINGLE = [(processor,) for processor in range(16)]


@pytest.mark.parametrize(
    ("cores", "listening", "serving", "reading"),
    [
        ([(0,)], 1, (0,), ()),
        ([(0, 1)], 1, (0,), (1,)),
        ([(0,), (1,)], 1, (0,), (1,)),
        ([(0,), (1,)], 4, (0,), (1,)),
        ([(0, 2), (1, 3)], 1, (0, 2), (1, 3)),
        (SINGLE[:4], 1, (0,), (1, 2, 3)),
        (SINGLE[:8], 1, (0, 1), tuple(range(2, 8))),
        (SINGLE[:8], 4, (0, 1, 2, 3), (4, 5, 6, 7)),
        (SINGLE, 64, tuple(range(8)), tuple(range(8, 16))),
    ],
)
def test_how_they_are_divided(
    cores: list[tuple[int, ...]], listening: int, serving: tuple[int, ...], reading: tuple[int, ...]
) -> None:
    assert split_cores(cores, listening) == (serving, reading)


def test_processors_of_one_core_stay_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for processor, siblings in enumerate(("0,2", "1,3", "0,2")):
        (tmp_path / str(processor)).write_text(siblings, encoding="ascii")
    monkeypatch.setattr(processors, "SIBLINGS", f"{tmp_path}/{{}}")
    assert group_by_core({0, 1, 2}) == [(0, 2), (1,)]
    assert group_by_core({0, 7}) == [(0,), (7,)]  # of one nothing is said


@pytest.mark.parametrize(
    ("quota", "count"),
    [
        ("max 100000", 4),
        ("200000 100000", 2),
        ("250000 100000", 2),
        ("50000 100000", 1),
        ("nonsense", 4),
    ],
)
def test_a_quota_counts_as_so_many_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, count: int
) -> None:
    (tmp_path / "max").write_text(quota, encoding="ascii")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(processors, "QUOTAS", ((f"{tmp_path}/none",), (f"{tmp_path}/max",)))
    assert len(available()) == count


def test_a_quota_of_the_first_version_of_control_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "period").write_text("100000\n", encoding="ascii")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(processors, "QUOTAS", ((f"{tmp_path}/quota", f"{tmp_path}/period"),))
    for quota, count in (("-1\n", 4), ("300000\n", 3)):
        (tmp_path / "quota").write_text(quota, encoding="ascii")
        assert len(available()) == count


SCRIPT = """
import os, threading
from sfumato.server.workers import processors
before, there, done = os.sched_getaffinity(0), [], threading.Event()
thread = threading.Thread(target=lambda: (done.wait(), there.append(os.sched_getaffinity(0))))
thread.start()
processors.divide(1)
done.set()
thread.join()
print([sorted(before), sorted(os.sched_getaffinity(0)), sorted(there[0]),
    sorted(processors.reading_processors())])
"""


def test_all_threads_of_a_process_are_kept_to_the_processors_that_serve() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60
    )
    before, of_process, of_thread, reading = eval(done.stdout)
    assert of_process == of_thread
    assert not set(of_process) & set(reading)
    assert (set(of_process) | set(reading) == set(before)) or len(available()) < 2
    assert bool(reading) == (len(available()) > 1)
