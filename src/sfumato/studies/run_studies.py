"""Run studies and write their report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ..exact.numbers import is_whole
from . import study_refusals as refusals
from . import study_report
from .study import Study, StudyResult
from .study_list import STUDIES, study

REPETITIONS = 200
SEED = 2022
LEAST = 3


def run(
    names: Iterable[str] = (),
    *,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
    begin: Callable[[Study], None] = lambda _: None,
) -> list[tuple[Study, StudyResult]]:
    """Run the studies of these names, or all, in the order of the sources. `begin` is called with
    each study before it runs.
    """
    if not is_whole(repetitions, LEAST):
        raise refusals.TOO_FEW_REPETITIONS(repetitions=repetitions, least=LEAST)
    chosen = {study(name).name for name in names} or {s.name for s in STUDIES}
    done = []
    for current in STUDIES:
        if current.name in chosen:
            begin(current)
            done.append((current, current.run(repetitions, seed)))
    return done


def reproduce(
    out: Path,
    names: Iterable[str] = (),
    *,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
    begin: Callable[[Study], None] = lambda _: None,
) -> tuple[Path, list[tuple[Study, StudyResult]]]:
    """Run studies and write `index.html` and the CSVs into `out`. Return the page's path and the
    results.
    """
    chosen = [study(name).name for name in names]
    study_report.prepare(out)
    done = run(chosen, repetitions=repetitions, seed=seed, begin=begin)
    return study_report.write(done, out, repetitions=repetitions, seed=seed), done
