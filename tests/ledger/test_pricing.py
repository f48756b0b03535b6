"""Prices: the best promise of a mechanism in the currency, and nothing that is not promised."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.guarantee import Numbers
from sfumato.ledger.pricing import Prices, as_sequence, best, price, price_stored
from sfumato.mechanisms.shared.mechanism import Mechanism
from sfumato.mechanisms.shared.stored_mechanism import record

from ..refusing import refusing


@dataclass(frozen=True)
class Promising(Mechanism):
    """A mechanism that promises the guarantees of its argument."""

    guarantees: tuple[sf.Guarantee, ...]
    relation = None
    unit = None

    @property
    def promises(self) -> tuple[sf.Guarantee, ...]:
        return self.guarantees


def exact(*numbers: str) -> Numbers:
    return tuple(map(Fraction, numbers))


def test_the_cheapest_promise_is_taken() -> None:
    budget = sf.Approx(1, "1e-6")
    sure, likely = sf.Approx("0.4", 0), sf.Approx("0.2", "1e-8")
    assert (
        price(budget, [Promising((sure, likely))])
        == price(budget, [Promising((likely, sure))])
        == exact("0.2", "1e-8")
    )
    assert price(sf.Approx(1, "1e-8"), [Promising((likely, sure))]) == exact("0.4", "0")
    assert price(sf.Approx(1, 0), [Promising((likely, sure))]) == exact(
        "0.4", "0"
    )  # no δ to be had


def test_a_promise_that_says_nothing_in_the_currency_is_passed_over() -> None:
    assert price(sf.Pure(1), [Promising((sf.GDP(1), sf.Pure("0.5")))]) == exact("0.5")
    with refusing("guarantee.does-not-follow"):
        price(sf.Pure(1), [Promising((sf.GDP(1), sf.ZCDP(1)))])
    with refusing("guarantee.unit"):
        price(
            sf.Pure(1, unit="patient"), [Promising((sf.Pure("0.5"), sf.Pure("0.1", unit="visit")))]
        )


def test_costs_are_converted_before_they_are_added() -> None:
    laplace = mech.Laplace(sensitivity=1, epsilon="0.1")
    (rho, _) = price(sf.ZCDP(1), [laplace, laplace])
    assert rho == 2 * laplace.to(sf.ZCDP).rho


def test_curves_without_delta_are_taken_at_their_lowest() -> None:
    budget = sf.Renyi({2: 1, 8: 1})
    crossing = Promising((sf.Renyi({2: "0.1", 8: "0.6"}), sf.Renyi({2: "0.2", 8: "0.3"})))
    assert price(budget, [crossing]) == exact("0.1", "0.3", "0")
    with_delta = Promising(
        (sf.Renyi({2: "0.1", 8: "0.6"}, "1e-6"), sf.Renyi({2: "0.2", 8: "0.3"}, "1e-6"))
    )
    assert price(sf.Renyi({2: 1, 8: 1}, "1e-3"), [with_delta]) == exact(
        "0.2", "0.3", "1e-6"
    )  # one of them, not a mixture


costs = st.tuples(st.fractions(0, 2), st.sampled_from(["0", "1e-9", "1e-6"]).map(Fraction))


@given(
    st.lists(costs, min_size=1, max_size=6),
    st.sampled_from([sf.Approx(1, "1e-6"), sf.Approx(1, 0), sf.Approx("0.1", "1e-9")]),
)
def test_never_one_that_another_undercuts(several: list[Numbers], budget: sf.Guarantee) -> None:
    chosen = best(budget, several)
    assert chosen in several
    assert not [
        cost
        for cost in several
        if cost != chosen and all(c <= t for c, t in zip(cost, chosen, strict=True))
    ]
    assert best(budget, reversed(several)) == chosen
    affordable = [
        cost for cost in several if all(c <= b for c, b in zip(cost, budget.vector, strict=True))
    ]
    assert not affordable or chosen in affordable


@pytest.mark.parametrize(
    "budget", [sf.Pure(1), sf.Approx(1, "1e-6"), sf.ZCDP(1), sf.GDP(2)], ids=str
)
def test_records_cost_what_their_mechanisms_cost(budget: sf.Guarantee) -> None:
    several = [mech.Laplace(sensitivity=1, epsilon="0.1"), mech.RandomizedResponse(epsilon="0.1")]
    assert price_stored(budget, map(record, several)) == price(budget, several)


def test_a_record_of_a_kind_that_is_gone_costs_what_it_promised() -> None:
    stored = record(mech.Laplace(sensitivity=1, epsilon="0.1"))
    assert price_stored(sf.Pure(1), [{**stored, "kind": "Forgotten"}]) == exact("0.1")


def test_one_or_several() -> None:
    assert as_sequence(sf.Pure(1)) == as_sequence([sf.Pure(1)]) == (sf.Pure(1),)
    for wrong in ([], "ab", 3, iter([sf.Pure(1)]), [sf.Pure(1), "b"]):
        with refusing("ledger.charge"):
            as_sequence(wrong)


def test_a_mechanism_that_cannot_be_hashed_is_priced_anew_at_every_charge() -> None:
    """The mechanism may change under the same name, so the ledger caches no price for it."""
    promises = [sf.Pure(1)]
    mechanism, prices = Promising(promises), Prices()  # type: ignore[arg-type]  # a list
    assert prices.quote(sf.Pure(9), mechanism).cost == sf.Pure(1)
    promises[0] = sf.Pure(2)
    assert prices.quote(sf.Pure(9), mechanism).cost == sf.Pure(2)
