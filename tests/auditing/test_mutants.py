"""Mutants: all of them are caught, by audit, replay or arithmetic; of the correct ones none is.

*False alarm*  arithmetic and replay have none. An audit has at most `ALPHA` each: in all below
               1e-6, which a test computes.
*Power*        an audit misses a mutant with a probability that is small, not zero. How far the mean
               bound lies beyond the claim, in standard deviations of the bound, each simulated here
               with 2 to 30 audits: redrawn 9.5, narrow-gaussian 10.3, noisy-max-half 8.9,
               never-ending 8.5, no-entropy 9.3, sampled-5-per-cent 13, cut-noise 43,
               oracle-never-clears 57, name-and-shame 100, no-noise-on-queries 100, and more than
               200 for doubles-audited and never-names-nobody; forked, seeded, resumed,
               one-noise-for-all and groups-in-structure are told by an event that always happens at
               one input and never at the other. Where bounds scatter like a normal variable, 8.5
               deviations are missed with a chance below 10⁻¹⁶; by Cantelli's inequality, whatever
               they scatter like, with one below 1.4 %. Latency and precision are told by nearly
               every draw.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sfumato import GDP, Pure

from .mutants.audited import ALPHA, Audited, geometric
from .mutants.books import Book, Desk
from .mutants.case import Case
from .mutants.catalogue import CASES
from .mutants.page import PAGE, page
from .mutants.replay import Door, Program

CLASSES = {
    *(f"A{i}" for i in range(1, 8)),
    *(f"B{i}" for i in range(1, 14)),
    *(f"C{i}" for i in range(1, 8)),
    *(f"D{i}" for i in range(1, 19)),
    *(f"E{i}" for i in range(1, 5)),
    *(f"F{i}" for i in range(1, 13)),
}
"""Recipes of attack: floating point, arithmetic, what is no number, queries, randomness,
ledgers.
"""

ERRATA = {
    f"E-{n}"
    for n in (
        "01",
        "04",
        "06",
        "10",
        "13",
        "14",
        "15",
        "19",
        "20",
        "21",
        "28",
        "35",
        "38",
        "44",
        "68",
    )
}
"""Errata of the sources that are a mechanism, a sensitivity or a calibration."""

SHIPPED = {
    *("opendp#2911", "opendp#2638", "opendp#2708", "opendp#2789", "opendp#941", "opendp#480"),
    *(
        "smartnoise-core#356",
        "smartnoise-core#318",
        "smartnoise-sdk#317",
        "smartnoise-sdk#621",
        "smartnoise-sdk#622",
        "smartnoise-sdk 1.0.2",
    ),
    *(
        "diffprivlib#104",
        "diffprivlib#105",
        "diffprivlib#94",
        "Opacus#616",
        "Opacus#585",
        "presto#23002",
        "wfa#1357",
    ),
    *(
        "google#126",
        "google#127",
        "google#84",
        "Qrlew 0.9.23",
        "Qrlew 0.9.26",
        "Qrlew 0.9.27",
        "pure-LDP#11",
    ),
    *(
        "PySyft#6914",
        "PySyft#6916",
        "PySyft#6917",
        "jax_privacy#383",
        "prv_accountant#17",
        "prv_accountant#36",
        "BigQuery",
        "Snowflake",
        "libprio-rs#645",
    ),
}
"""Bugs that other projects have shipped; one that ate all memory (dpsynth#71) broke no promise."""

WITHOUT_PROMISE = {"F11": "a ledger that slows down with its length breaks no promise about anyone"}
"""Recipes of which there can be no mutant, and why."""


@pytest.mark.parametrize("name", CASES)
def test_the_mutant_is_caught(name: str) -> None:
    assert CASES[name].broken.alarm()


@pytest.mark.parametrize("name", CASES)
def test_the_correct_one_raises_no_alarm(name: str) -> None:
    """False alarm: 0 for arithmetic and replay, at most ALPHA for an audit."""
    assert CASES[name].correct.alarm() == ""


def test_there_are_enough_and_all_classes_are_there() -> None:
    sources = {source for case in CASES.values() for source in case.known_from}
    assert len(CASES) >= 60
    assert min(Counter(case.how for case in CASES.values()).values()) >= 20
    assert (CLASSES | ERRATA | SHIPPED) - sources == set(WITHOUT_PROMISE)


def test_every_erratum_of_these_names_its_mutant_in_the_index() -> None:
    index = json.loads(
        (PAGE.parents[2] / "tests" / "vectors" / "index.json").read_text(encoding="utf-8")
    )
    node = f"tests/auditing/test_mutants.py::{test_the_mutant_is_caught.__name__}"
    assert {entry for entry, targets in index.items() if node in targets} == ERRATA


def test_false_alarms_are_rare_in_all() -> None:
    audits = sum(case.correct.how == "audit" for case in CASES.values())
    assert (audits + len(SLOW)) * ALPHA <= 1e-6


SHIPPED_BESIDE = {"direct-no-others"}
"""Mutants beside which stands a client of the product, tried with more inputs."""
SETTING = ("pair", "pairs", "inputs", "requests", "samples", "exact")


@pytest.mark.parametrize("name", [name for name in CASES if name not in SHIPPED_BESIDE])
def test_a_mutant_and_its_counterpart_are_put_before_one_tool_with_the_same_inputs(
    name: str,
) -> None:
    """So nothing but what each does or claims can make the difference."""
    case = CASES[name]
    assert type(case.broken) is type(case.correct)
    for about in SETTING:
        assert getattr(case.broken, about, None) == getattr(case.correct, about, None)


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if isinstance(case.correct, Book)]
)
def test_a_correct_ledger_does_answer(name: str) -> None:
    """A book that refuses everything would pass, too."""
    book: Any = CASES[name].correct
    desk = Desk()
    for request in book.requests:
        book._serve(desk, request)
    assert desk.draws >= 1
    assert book.spent(desk) == desk.released


REFUSES = {"value-in-message"}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, case in CASES.items()
        if isinstance(case.correct, Program) and name not in REFUSES
    ],
)
def test_a_correct_program_does_answer(name: str) -> None:
    program: Any = CASES[name].correct
    for data in program.pairs[-1]:
        door = Door()
        program.run(data, door)
        assert door.calls


def test_the_page_is_up_to_date() -> None:
    """`.venv/bin/python -m tests.auditing.mutants.page` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()
    assert all(line.count("|") == 5 for line in page().splitlines() if line.startswith("|")), (
        "a bar within a cell"
    )


# Noise 5 % too small at every ε from ½ on, from outputs alone.


def _laplace(epsilon: float, factor: float) -> Any:
    return lambda x, n: x + geometric(factor / epsilon, n)


def _gaussian(mu: float, factor: float) -> Any:
    return lambda x, n: np.rint(x + np.random.default_rng().normal(0, factor / mu, n)).astype(
        np.int64
    )


SLOW: dict[str, tuple[Audited, Audited]] = {
    f"{kind} {size}": (
        Audited(release=make(size, 0.95), pair=(0, 1), claim=claim(str(size)), samples=samples),
        Audited(release=make(size, 1.0), pair=(0, 1), claim=claim(str(size)), samples=samples),
    )
    for kind, make, claim in (("laplace", _laplace, Pure), ("gaussian", _gaussian, GDP))
    for size, samples in ((0.5, 4_000_000), (1.0, 2_000_000), (2.0, 2_000_000))
}
"""Law and ε or μ → 5 % too small, and right."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_five_per_cent_are_seen_from_outside(name: str) -> None:
    broken, correct = SLOW[name]
    assert broken.alarm()
    assert correct.alarm() == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.how == "audit"])
def test_audits_catch_their_mutants_every_time(name: str) -> None:
    """Thirty times of thirty, so that a mutant does not slip through now and then. A correct one is
    looked at once more, with ten times as many draws.
    """
    case: Case = CASES[name]
    assert all(case.broken.alarm() for _ in range(30))
    if isinstance(case.correct, Audited) and not case.correct.exact:
        assert (
            replace(case.correct, samples=min(10 * case.correct.samples, 2_000_000)).alarm() == ""
        )
