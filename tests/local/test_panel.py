"""A panel: all reports of one person, between any two histories of values, by following every coin
of the client.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.guarantees import Pure
from sfumato.local import (
    Direct,
    Hadamard,
    OneBit,
    Panel,
    PrefixTree,
    Questionnaire,
    Rappor,
    Reports,
    Sketch,
    Subset,
    Unary,
    client,
    restore,
)
from sfumato.testing import SeededBits

from .drawn import agrees, bent
from .laws import largest_odds, law_of_call

BINARY = Direct(epsilon=1, categories=["a", "b"])
SMALL: dict[str, tuple[Panel, tuple[Any, ...]]] = {
    "one of three": (Panel(BINARY, waves=3), ("a", "b", "x")),
    "two of three": (Panel(BINARY, waves=3, reports=2), ("a", "b", "x")),
    "all of three": (Panel(BINARY, waves=3, reports=3), ("a", "b", "x")),
    "one of four": (Panel(BINARY, waves=4), ("a", "b")),
    "three categories": (
        Panel(Direct(epsilon="1/2", categories="abc"), waves=2, reports=2),
        ("a", "b", "c", "x"),
    ),
    "bits": (Panel(Unary(epsilon=1, categories="ab"), waves=2), ("a", "b", "x")),
    "a column": (Panel(Hadamard(epsilon=2, categories="abc"), waves=2), ("a", "c", "x")),
    "a number": (
        Panel(OneBit(epsilon=1, low=0, high=2, grid=1), waves=2, reports=2),
        (0, 1, 2, float("nan")),
    ),
    "a sketch": (
        Panel(Sketch(epsilon=1, categories="ab", rows=2, size=4, hadamard=True), waves=2),
        ("a", "b"),
    ),
}
"""Panels, and the values of which every history is tried."""


def all_reports(
    panel: Panel, history: tuple[Any, ...], *, times: int = 1, module: Any = client
) -> dict[bytes, Fraction]:
    """The exact law of everything that one person sends: in each wave as often as asked."""
    question = json.loads(json.dumps(panel.question))

    def call() -> bytes:
        memory: dict[str, Any] = {}
        sent = [
            module.perturb(question, value, memory, wave=wave)
            for wave, value in enumerate(history)
            for _ in range(times)
        ]
        return b" ".join(
            report.hex().encode() for report in sent
        )  # a wave without a report is seen, too

    return law_of_call(call, module=module)


def keeps(odds: Fraction | None, epsilon: Fraction) -> bool:
    return odds is not None and below(lambda: ball(odds), lambda: ball(epsilon).exp())


@pytest.mark.parametrize("name", SMALL)
def test_between_any_two_histories_the_promise_is_kept(name: str) -> None:
    """Every history of every value, also of one that is no category: constant, changing at any
    moment, returning. Over all that a person sends, the largest ratio is exactly `odds`, and at
    most e^(reports·ε).
    """
    panel, values = SMALL[name]
    odds = largest_odds(
        [all_reports(panel, history) for history in product(values, repeat=panel.waves)]
    )
    assert (
        odds
        == panel.odds
        == panel.oracle.odds**panel.reports
        == client.ODDS["panel"](panel.question, 0)
    )
    assert keeps(odds, panel.epsilon)
    assert panel.promise == Pure(panel.reports * panel.oracle.epsilon)
    if panel.reports > 1:  # the twin: what one report keeps is not kept by all
        assert not keeps(odds, panel.oracle.epsilon)


def test_the_histories_that_rappor_gives_away() -> None:
    """The moment of a change and a return, for which the loss of RAPPOR is infinite."""
    panel = Panel(BINARY, waves=4, reports=2)
    for first, second in (("aabb", "abbb"), ("abab", "aaab"), ("aaaa", "abab")):
        odds = largest_odds([all_reports(panel, tuple(first)), all_reports(panel, tuple(second))])
        assert odds is not None
        assert odds <= panel.odds


def test_to_be_asked_again_in_a_wave_tells_nothing_more() -> None:
    """Three times in each wave: the same bytes again, so the law is that of being asked once."""
    panel = Panel(BINARY, waves=2, reports=2)
    for history in product("ab", repeat=2):
        once, thrice = all_reports(panel, history), all_reports(panel, history, times=3)
        assert thrice == {
            b" ".join(b" ".join([report] * 3) for report in sent.split(b" ")): p
            for sent, p in once.items()
        }
    memory: dict[str, Any] = {}
    sent = {client.perturb(panel.question, value, memory, wave=1) for value in "abxab" * 20}
    assert len(sent) == 1, "a value that changes within a wave is not looked at"


@pytest.mark.parametrize(("waves", "reports"), [(3, 1), (3, 2), (4, 2), (4, 4)])
def test_the_lot_is_uniform_and_tells_nothing(waves: int, reports: int) -> None:
    """Every set of waves is equally likely, whatever the history is."""
    panel = Panel(BINARY, waves=waves, reports=reports)
    sets = list(combinations(range(waves), reports))
    for history in (("a",) * waves, ("a", "b", "x", "a")[:waves]):
        lots: dict[tuple[int, ...], Fraction] = {}
        for sent, p in all_reports(panel, history).items():
            lot = tuple(wave for wave, report in enumerate(sent.split(b" ")) if report)
            lots[lot] = lots.get(lot, Fraction(0)) + p
        assert lots == dict.fromkeys(sets, Fraction(1, len(sets)))


@pytest.mark.parametrize("reports", [1, 2, 3])
def test_the_vectorised_law_is_that_of_the_client(reports: int) -> None:
    """100 000 people with one history beside the client's exact law: every outcome within its
    binomial limits, false alarm 10⁻⁷ a case, seeded bits. A law that is wrong by ten per cent at
    its likeliest outcome is seen.
    """
    panel, history = Panel(BINARY, waves=3, reports=reports), ("a", "b", "a")
    law = {
        b"".join(
            bytes.fromhex(report.decode())[4:] for report in sent.split(b" ") if report
        ): p  # without the head of each report
        for sent, p in all_reports(panel, history).items()
    }
    people = 100_000
    sent = panel.perturb(np.tile(np.array(history), (people, 1)), bits=SeededBits(reports))
    together = Reports(sent.mark, sent.payload.reshape(people, -1))
    assert agrees(together, law)
    assert not agrees(together, bent(law))


def test_estimates_by_wave() -> None:
    """20 000 seeded people who change at moments of their own, and a collector who gets single
    reports: each wave within 5 standard errors of the truth.
    """
    panel, n = Panel(Subset(epsilon=2, categories="abc", size=1), waves=4, reports=2), 20_000
    change = np.random.default_rng(1).integers(0, 5, n)
    histories = np.where(np.arange(4)[None, :] < change[:, None], "a", "b")
    reports = panel.perturb(histories, bits=SeededBits(5))
    estimates = panel.estimate(list(reports))
    assert list(estimates) == [0, 1, 2, 3]
    assert sum(part.reports for part in estimates.values()) == len(reports) == 2 * n
    for wave, part in estimates.items():
        assert abs(part["a"] - (histories[:, wave] == "a").mean()) < 5 * part.standard_error[0]
        low, high = part.interval(0.999999)[0]
        assert low <= (histories[:, wave] == "a").mean() <= high
    assert list(
        panel.estimate(Reports(reports.mark, reports.payload[reports.payload[:, 0] == 2]))
    ) == [2]


def test_a_client_and_a_collector() -> None:
    """Thirty people with the one-file client: each sends in one wave, and the memory survives
    JSON.
    """
    panel = Panel(BINARY, waves=6, unit="phone")
    question, sent = json.loads(json.dumps(panel.question)), []
    for _ in range(30):
        memory: dict[str, Any] = {}
        for wave in range(6):
            memory = json.loads(json.dumps(memory))  # as a device would store it
            sent.append(client.perturb(question, "ab"[wave % 2], memory, wave=wave))
    reports = [report for report in sent if report]
    assert len(reports) == 30
    assert sum(part.reports for part in panel.estimate(reports).values()) == 30
    assert {len(report) for report in reports} == {4 + panel.width}
    assert restore(json.dumps(panel.question, sort_keys=True)) == panel
    assert panel.promise == Pure(1, unit="phone")


def test_one_wave_for_each_is_better_than_a_part_of_epsilon_in_all() -> None:
    """The same ε for a year of months: the standard error of a wave is 3.6 times smaller (√12 for
    small ε).
    """
    n = 100_000
    sampled, split = (
        Panel(BINARY, waves=12),
        Panel(Direct(epsilon="1/12", categories="ab"), waves=12, reports=12),
    )
    assert sampled.promise == split.promise == Pure(1)
    assert split.variance(n) == pytest.approx(split.oracle.variance(n))
    assert sampled.variance(n) == pytest.approx(BINARY.variance(n // 12), rel=2e-3)
    assert sampled.variance(n) > BINARY.variance(
        -(-n // 12)
    )  # Jensen: a random number of reports costs a little
    assert (split.variance(n) / sampled.variance(n)) ** 0.5 == pytest.approx(3.6, abs=0.1)


def test_variance_by_simulation() -> None:
    """600 seeded surveys of 90 people, nobody of whom ever has a: the squared errors of a wave have
    the exact variance for mean, within 3 standard errors.
    """
    panel, bits = Panel(BINARY, waves=3), SeededBits(4)
    off = [
        panel.estimate(panel.perturb(np.full((90, 3), "b"), bits=bits))[1]["a"] for _ in range(600)
    ]
    squares = np.array(off) ** 2
    assert abs(squares.mean() - panel.variance(90)) < 3 * squares.std(ddof=1) / 600**0.5
    assert abs(squares.mean() - BINARY.variance(90)) > 3 * squares.std(ddof=1) / 600**0.5, (
        "the twin: not that of 90 reports in each wave"
    )


def test_tables_of_histories() -> None:
    panel = Panel(BINARY, waves=2)
    rows = [["a", "b"], ["b", None], ["x", "a"]]
    tables = (
        rows,
        [tuple(row) for row in rows],
        np.array(rows, dtype=object),
        pd.DataFrame(rows),
        pl.DataFrame(rows, schema=["0", "1"], orient="row"),
    )
    assert [len(panel.perturb(table)) for table in tables] == [3] * 5
    assert len(panel.perturb(np.zeros((0, 2)))) == 0
    mixed = Panel(Direct(epsilon=30, categories=[1, "1"]), waves=2, reports=2)
    estimates = mixed.estimate(mixed.perturb([[1, "1"]] * 50))
    assert [estimates[wave][1] for wave in (0, 1)] == pytest.approx(
        [1, 0], abs=1e-9
    )  # a number stays a number beside texts
    for values in (["a", "b"], [["a"]], [["a", "b"], ["a"]], np.zeros((2, 3)), 3, None):
        with pytest.raises(Refused) as refused:
            panel.perturb(values)
        assert refused.value.code == "local.panel"


def test_malformed_reports() -> None:
    panel = Panel(BINARY, waves=3)
    good = panel.perturb([["a", "b", "a"]] * 8, bits=SeededBits(2))
    for row in ([3, 0], [0, 2], [255, 0]):  # no such wave, no such answer
        bad = Reports(good.mark, np.array([row], dtype=np.uint8))
        with pytest.raises(Refused) as refused:
            panel.estimate(bad)
        assert refused.value.code == "local.report"
        assert len(panel.read(good + bad, drop=True)) == 8
    with pytest.raises(Refused) as refused:
        panel.aggregate(good)
    assert refused.value.code == "local.panel"


@pytest.mark.parametrize(
    ("oracle", "more"),
    [
        (BINARY, {"waves": 1}),
        (BINARY, {"waves": 5000}),
        (BINARY, {"waves": True}),
        (BINARY, {"waves": 2.0}),
        (BINARY, {"waves": 3, "reports": 0}),
        (BINARY, {"waves": 3, "reports": 4}),
        (BINARY, {"waves": 3, "reports": "1"}),
        (Rappor(epsilon=1, categories="ab"), {"waves": 3}),
        (PrefixTree(epsilon=1, length=2), {"waves": 3}),
        (Questionnaire({"x": BINARY, "y": BINARY}), {"waves": 3}),
        (Panel(BINARY, waves=3), {"waves": 3}),
    ],
)
def test_refused(oracle: Any, more: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        Panel(oracle, **more)
    assert refused.value.code == "local.panel"


def test_the_relation_is_replace() -> None:
    with pytest.raises(Refused) as refused:
        Panel(BINARY, waves=3, relation="add-remove")
    assert refused.value.code == "response.relation"
    assert Panel(BINARY, waves=3, relation="replace").promise == Pure(1, relation="replace")


class Hostile:
    """A value that must not be looked at."""

    def __eq__(self, value: object) -> bool:
        raise AssertionError("the value was looked at")

    __hash__ = None  # type: ignore[assignment]  # not hashable


@pytest.mark.parametrize(
    ("memory", "more"),
    [
        (None, {"wave": 0}),
        ({}, {}),
        ({}, {"wave": 3}),
        ({}, {"wave": -1}),
        ({}, {"wave": True}),
        ({}, {"wave": "0"}),
        ({}, {"wave": 0.0}),
    ],
)
def test_a_client_without_a_memory_or_a_wave_reports_nothing(
    memory: Any, more: dict[str, Any]
) -> None:
    """Without a memory the lot would be drawn anew in every wave, and nothing would limit how often
    a person reports.
    """
    with pytest.raises(ValueError, match="panel"):
        client.perturb(Panel(BINARY, waves=3).question, Hostile(), memory, **more)


def test_other_questions_have_no_waves() -> None:
    """A program that takes another question for a panel would report in every wave."""
    for question in (BINARY.question, Rappor(epsilon=1, categories="ab").question):
        with pytest.raises(ValueError, match="no other question"):
            client.perturb(question, Hostile(), {}, wave=0)


class Forgets(dict[str, Any]):
    def __setitem__(self, key: str, value: Any) -> None:
        pass


def test_a_memory_that_forgets_is_refused() -> None:
    for value in ("a", "x"):
        with pytest.raises(ValueError, match="does not return what was written"):
            client.perturb(Panel(BINARY, waves=3).question, value, Forgets(), wave=1)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"epsilon": "1"}, "tell more"),
        ({"reports": 3}, "tell more"),
        ({"reports": 4, "epsilon": "4"}, "does not know"),
        ({"reports": 0}, "does not know"),
        ({"reports": None}, "does not know"),
        ({"waves": 1}, "does not know"),
        ({"waves": 1 << 20}, "does not know"),
        ({"part": Rappor(epsilon=1, categories="ab").question}, "does not know"),
        ({"part": Panel(BINARY, waves=2).question}, "does not know"),
        ({"part": Questionnaire({"x": BINARY, "y": BINARY}).question}, "does not know"),
        ({"part": {**BINARY.question, "own": "0"}}, "does not know"),
        ({"part": None}, "does not know"),
        ({"part": Direct(epsilon="3/2", categories="ab").question}, "tell more"),
    ],
    ids=str,
)
def test_the_client_does_not_trust_the_question(change: dict[str, Any], text: str) -> None:
    question = json.loads(json.dumps(Panel(BINARY, waves=3, reports=2).question))
    client.check(question)
    with pytest.raises(ValueError, match=text):
        client.perturb({**question, **change}, Hostile(), {}, wave=0)
    for name in ("waves", "reports", "part", "epsilon", "kind"):
        with pytest.raises(ValueError, match=r"does not know|no other question"):
            client.perturb(
                {key: value for key, value in question.items() if key != name},
                Hostile(),
                {},
                wave=0,
            )


MUTANTS: dict[str, tuple[str, str]] = {
    "the lot is drawn anew in every wave": (
        'if stored is None\n        else {**stored, "reports": dict(stored["reports"])}',
        "if True\n        else {}",
    ),
    "a report is drawn anew whenever asked": ('and str(wave) not in entry["reports"]', ""),
    "every wave is answered": (
        '"waves": draw_waves(waves, int(question["reports"]))',
        '"waves": list(range(waves))',
    ),
    "the first wave is answered besides": (
        'if wave in entry["waves"]\n        else b""',
        'if wave in entry["waves"]\n        else _number(wave, waves) + b"\\0" * (value == "a")',
    ),
}


@pytest.mark.parametrize("what", MUTANTS)
def test_a_broken_client_is_caught(what: str) -> None:
    """By the odds of all that a person sends who is asked twice in each wave."""
    old, new = MUTANTS[what]
    source = Path(client.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1
    mutant = types.ModuleType("mutant")
    exec(compile(source.replace(old, new), "mutant", "exec"), mutant.__dict__)
    panel = Panel(BINARY, waves=2)
    law: Callable[..., Any] = all_reports
    assert keeps(
        largest_odds([law(panel, history, times=2) for history in product("ab", repeat=2)]),
        panel.epsilon,
    )
    assert not keeps(
        largest_odds(
            [law(panel, history, times=2, module=mutant) for history in product("ab", repeat=2)]
        ),
        panel.epsilon,
    )
