"""A notion that is defined in this file alone: budget and promise of a table, currency of a ledger,
text of an answer and of its card. It is zCDP in other units, so each result has a known twin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

import sfumato as sf
from sfumato.accounting.filters import Filter
from sfumato.exact.numbers import Number
from sfumato.functions.calibration import noise_for
from sfumato.guarantees import ZCDP, Guarantee, Relation
from sfumato.guarantees.guarantee import NOTIONS, NoiseTarget, notion, reach
from sfumato.ledger.statement import statement
from sfumato.session.protected_table import Table

from ..refusing import refusing


@dataclass(frozen=True, slots=True, repr=False)
class CentiZCDP(Guarantee):
    """ρ-zCDP, stated in hundredths of ρ."""

    hundredths: Fraction
    _delta: Fraction
    relation: Relation | None = None
    unit: str | None = None

    symbols: ClassVar = {"hundredths": "cρ", "delta": "δ"}
    theorem: ClassVar = "as for zCDP, in other units"
    registry_name: ClassVar = "Zero-concentrated DP"

    def __init__(
        self,
        hundredths: Number,
        delta: Number = 0,
        *,
        relation: Relation | None = None,
        unit: str | None = None,
    ) -> None:
        twin = ZCDP(hundredths, delta)
        object.__setattr__(self, "hundredths", twin.rho)
        object.__setattr__(self, "_delta", twin.parameters.get("delta", Fraction(0)))
        self._bind(self, relation, unit)

    @property
    def twin(self) -> ZCDP:
        return ZCDP(self.hundredths / 100, self._delta)

    @classmethod
    def of(cls, twin: ZCDP) -> Self:
        return cls(100 * twin.rho, twin.parameters.get("delta", 0))

    @property
    def parameters(self) -> dict[str, Fraction]:
        more = {"delta": self._delta} if self._delta else {}
        return {"hundredths": self.hundredths, **more}

    def delta(self, epsilon: Number) -> float:
        return self.twin.delta(epsilon)

    def epsilon(self, delta: Number = 0) -> float:
        return self.twin.epsilon(delta)

    def renyi(self, order: Number) -> float:
        return self.twin.renyi(order)

    def _plus(self, addend: Self) -> Self:
        return self.of(self.twin._plus(addend.twin))

    def _times(self, count: int) -> Self:
        return self.of(self.twin._times(count))

    def _implied_by(self, premise: Guarantee) -> bool:
        return self.twin._implied_by(premise)

    def _meet(self, second: Self) -> Self:
        return self.of(self.twin._meet(second.twin))

    def _group(self, size: int) -> Self:
        return self.of(self.twin._group(size))

    def _states(self, notion: type[Guarantee]) -> Guarantee | None:
        return reach(self.twin, notion)

    @classmethod
    def _stated_by(cls, premise: Guarantee) -> Self | None:
        twin = reach(premise, ZCDP)
        return None if twin is None else cls.of(twin)

    def _largest_epsilon(self, *, ranged: bool) -> Fraction:
        return self.twin._largest_epsilon(ranged=ranged)

    def without_delta(self) -> CentiZCDP:
        return CentiZCDP(self.hundredths)

    def cost_of(self, amount: Fraction, delta: Fraction) -> CentiZCDP:
        return CentiZCDP(100 * amount, delta)

    @property
    def noise_target(self) -> NoiseTarget:
        return self.twin.noise_target


BUDGET, TWIN = CentiZCDP(100, "1e-5"), ZCDP(1, "1e-5")
PROMISE, TWIN_PROMISE = CentiZCDP(2, "1e-7"), ZCDP("0.02", "1e-7")
PUBLIC = "SELECT city, COUNT(*) AS n, MEDIAN(spend) AS m FROM visits GROUP BY city"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    notion(CentiZCDP)
    yield
    del NOTIONS["CentiZCDP"]


def visits(budget: Guarantee, *, limited: bool = True, **more: Any) -> Table:
    limits = {"max_rows": 5, "bounds": {"spend": (0, 100)}} if limited else {}
    return sf.protect(
        sf.samples.visits(), name="visits", unit="user_id", budget=budget, **limits | more
    )


@pytest.mark.parametrize("keys", [{}, {"city": ["Roma", "Milano"]}], ids=["private", "public"])
def test_a_table_plans_the_noise_of_the_twin(keys: dict[str, list[str]]) -> None:
    plan = visits(BUDGET, keys=keys).plan(PUBLIC, promise=PROMISE)
    twin = visits(TWIN, keys=keys).plan(PUBLIC, promise=TWIN_PROMISE)
    assert plan.mechanism == twin.mechanism
    assert plan.explain() == twin.explain()


def test_an_answer_names_its_numbers() -> None:
    table = visits(BUDGET)
    answer = table.sql("SELECT COUNT(*) AS n FROM visits", promise=CentiZCDP(2))
    assert answer.cost == CentiZCDP(2, relation="add-remove", unit="user_id")
    assert "cρ = 2 of 100" in str(answer)
    assert "98 left" in str(answer)
    card = answer.card().to_dict()
    assert card["deployment"]["implementation"]["composition"] == CentiZCDP.theorem
    assert card["release"]["budget"]["notion"] == "CentiZCDP"
    assert "cρ = 2 of 100" in card["deployment"]["privacy_loss"]["privacy_parameters_details"]
    assert type(answer).from_json(answer.to_json()).budget == answer.budget


def test_accuracy_is_paid_for_in_the_currency_of_the_budget() -> None:
    question = "SELECT COUNT(*) AS n FROM visits"
    plan = visits(BUDGET).plan(question, within=50)
    assert plan.mechanism == visits(TWIN).plan(question, within=50).mechanism


def test_limits_are_learned_from_a_share() -> None:
    table = visits(BUDGET, limited=False)
    table.sql("SELECT SUM(spend) AS s FROM visits", promise=CentiZCDP(40))
    assert 40 < table.ledger.spent.vector[0] < 60


def test_a_batch_splits_the_promise() -> None:
    table = visits(BUDGET)
    questions = ["SELECT COUNT(*) AS n FROM visits", "SELECT SUM(spend) AS s FROM visits"]
    table.release_all(questions, promise=CentiZCDP(4))
    assert Fraction("3.999") < table.ledger.spent.vector[0] <= 4


def test_a_ledger_counts_in_it(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    opened = sf.Ledger.open(
        path, budget=BUDGET, dataset="visits", unit="user_id", relation="add-remove"
    )
    opened.charge(sf.ZCDP("0.1"), memo="a count")
    opened.charge(sf.GDP("0.2"), memo="a sum")
    again = sf.Ledger.open(path, dataset="visits")
    assert again.remaining.vector == (88, Fraction("1e-5"))
    assert [again.budget.vector_names[i] for i in again.budget.worth_showing((0, 0))] == ["cρ", "δ"]
    assert statement(again).theorem == CentiZCDP.theorem
    with refusing("budget.exceeded"):
        again.charge(CentiZCDP(89))


def test_algebra_storage_and_functions() -> None:
    assert sf.Guarantee.from_json(BUDGET.to_json()) == BUDGET
    assert CentiZCDP(1) + CentiZCDP(2) == 3 * CentiZCDP(1)
    assert (sf.Pure(1) + CentiZCDP(1)).delta(2) <= sf.Pure(1).delta(2) + CentiZCDP(1).delta(1)
    assert sf.GDP(1).to(CentiZCDP) == CentiZCDP(50)
    assert CentiZCDP(50) <= sf.ZCDP("0.5") <= CentiZCDP(50)
    assert Filter(BUDGET).admits(sf.Pure("0.1"))
    assert (
        sf.parallel(CentiZCDP(1), CentiZCDP(2), relation="add-remove").to(CentiZCDP).vector[0] == 2
    )
    assert noise_for(1, PROMISE) == noise_for(1, TWIN_PROMISE)


def test_refusals_list_it() -> None:
    with refusing("filter.currency") as caught:
        Filter(sf.Pure(1) + sf.GDP(1))
    assert "CentiZCDP" in str(caught.value)
    with refusing("plan.promise") as caught:
        visits(BUDGET).plan(PUBLIC, promise=sf.RandomDP(sf.Pure(1), "1e-3", over="rows"))
    assert "sf.CentiZCDP" in str(caught.value)
