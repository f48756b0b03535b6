"""Steps behind the door: one charge before the engine is asked, noisy integers alone between the
steps, one text for whatever breaks, and the stored result for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Failed, Refused
from sfumato.ledger import Receipt
from sfumato.mechanisms import Combined, Laplace
from sfumato.noise.law import Integers
from sfumato.release import Step, release_steps
from sfumato.session.protected_table import Table
from sfumato.tables.engine.sources import TableSource
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.plan.statements import EngineStatement
from sfumato.testing import SeededBits

CANARY = "canary-77aa0b19"
ROWS = pa.table({"city": ["Roma"] * 5 + ["Bari"] * 3 + [CANARY] * 2})


@pytest.fixture
def visits() -> Iterator[Table]:
    with sf.protect(ROWS, name="visits", budget=10) as table:
        yield table


@dataclass
class Largest:
    """Count two cities; then count the one again whose noisy count is larger."""

    table: Table
    epsilon: float = 1
    sent: list[list[Integers]] = field(default_factory=list)
    tally_counts: list[int] = field(default_factory=list)

    @property
    def noise(self) -> Laplace:
        return Laplace(epsilon=self.epsilon, sensitivity=1)

    @property
    def query(self) -> Plan:
        query = self.table.group_by(city=["Bari", "Roma"]).aggregate(n=sf.count())
        plan = query.plan(epsilon=1)
        assert isinstance(plan, Plan)
        return plan

    @property
    def source(self) -> TableSource:
        return self.query.source

    @property
    def statements(self) -> Sequence[EngineStatement]:
        return self.query.statements

    @property
    def mechanism(self) -> Combined:
        return Combined(parts=(self.noise, self.noise))

    text = "the larger city, counted twice"

    @property
    def question_key(self) -> str:
        return json.dumps([self.text, self.epsilon])

    def steps(self) -> Generator[Step, list[Integers], list[int]]:
        def count(tallies: Sequence[tuple[Any, ...]]) -> Iterator[Integers]:
            self.tally_counts.append(len(tallies))
            rows = dict(zip(*tallies[0][0].to_pydict().values(), strict=False))
            yield np.array([rows["Bari"], rows["Roma"]])

        noisy = yield Step(self.statements, count, (self.noise,))
        self.sent.append(noisy)
        larger = int(np.argmax(noisy[0]))
        noisy = yield Step((), lambda tallies: [next(count(tallies))[[larger]]], (self.noise,))
        self.sent.append(noisy)
        return [larger, int(noisy[0][0])]

    def pack(self, result: list[int], receipt: Receipt) -> bytes:
        return json.dumps([*result, receipt.number]).encode()


def spent(table: Table) -> Any:
    return table.spent.parameters["epsilon"]


def test_steps_are_charged_once_and_stored(visits: Table) -> None:
    plan = Largest(visits)
    first = release_steps(plan, visits.ledger)
    assert spent(visits) == 2
    assert plan.tally_counts == [1, 2]  # a later step is handed the tallies of the earlier ones
    assert release_steps(Largest(visits), visits.ledger) == first
    assert spent(visits) == 2
    release_steps(Largest(visits), visits.ledger, fresh=True)
    assert spent(visits) == 4


def test_between_steps_there_are_noisy_integers_alone(visits: Table) -> None:
    """With known bits the noise is known: exact counts plus exactly that noise were sent."""
    plan = Largest(visits, epsilon=0.25)
    packed = json.loads(release_steps(plan, visits.ledger, bits=SeededBits(7)))
    bits = SeededBits(7)
    first = plan.noise.perturb(np.array([3, 5]), bits=bits)
    larger = int(np.argmax(first))
    second = plan.noise.perturb(np.array([[3, 5][larger]]), bits=bits)
    assert [list(step[0]) for step in plan.sent] == [list(first), list(second)]
    assert packed[:2] == [larger, int(second[0])]
    assert list(first) != [3, 5] or list(second) != [[3, 5][larger]]  # the twin: some noise came


def test_the_charge_is_durable_before_the_engine_is_asked(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = type(Largest(visits).source.engine)
    tally, charged = engine.tally, []

    def watch(*arguments: Any, **keywords: Any) -> Any:
        charged.append(spent(visits))
        return tally(*arguments, **keywords)

    monkeypatch.setattr(engine, "tally", watch)
    release_steps(Largest(visits), visits.ledger)
    assert charged == [2]


@pytest.mark.parametrize("where", ["tally", "count", "noise", "between", "pack", "remember"])
def test_whatever_breaks_says_one_text(
    where: str, visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"row {CANARY}")

    class Breaking(Largest):
        def steps(self) -> Generator[Step, list[Integers], list[int]]:
            step = next(super().steps())
            yield Step(step.statements, breaks, step.noise) if where == "count" else step
            return breaks()  # type: ignore[no-any-return]  # it raises

    plan = Breaking(visits) if where in ("count", "between") else Largest(visits)
    targets: dict[str, tuple[type, str]] = {
        "tally": (type(plan.source.engine), "tally"),
        "noise": (Laplace, "perturb"),
        "pack": (Largest, "pack"),
        "remember": (type(visits.ledger), "remember"),
    }
    if where in targets:
        monkeypatch.setattr(*targets[where], breaks)
    with pytest.raises(Failed) as failed:
        release_steps(plan, visits.ledger)
    assert str(failed.value) == Failed.TEXT
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert spent(visits) == 2  # what was charged stays charged
    monkeypatch.undo()
    release_steps(Largest(visits), visits.ledger)
    assert spent(visits) == 4  # nothing was stored that could be given again


def test_what_the_engine_cannot_run_is_refused_before_the_charge(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise Refused("engine.unsupported", "the engine", "it cannot", "take another")

    plan = Largest(visits)
    monkeypatch.setattr(type(plan.source.engine), "check_supported", refuse)
    with pytest.raises(Refused):
        release_steps(plan, visits.ledger)
    assert spent(visits) == 0
