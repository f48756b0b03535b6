"""Laws at two inputs: of every kind in the table they sum to 1, agree with draws, and keep the
promise.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.canonical_outputs import read_outputs
from sfumato.auditing.catalogue import CATALOGUE
from sfumato.auditing.mechanism_laws import law_pair_at
from sfumato.auditing.runners import law_pair_of, runner_of
from sfumato.guarantees.finite.divergences import approx_max_divergence
from sfumato.mechanisms.shared.mechanism import Mechanism
from sfumato.mechanisms.stated.audit_example import AuditExample

KNOWN = [
    entry
    for entry in CATALOGUE
    if all(
        law_pair_of(runner_of(entry.build(1.0)), pair) is not None
        for pair in entry.pairs(entry.build(1.0))[:1]
    )
]


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry.name)
def test_draws_fall_into_cells_as_often_as_the_law_says(entry: AuditExample) -> None:
    """False alarm: Hoeffding's bound for the largest of at most 2000 cells and tails, 10⁻⁹."""
    m: Any = entry.build(1.0)
    x, y = entry.pairs(m)[0]
    laws = law_pair_at(m, x, y)
    assert laws is not None
    assert laws.cell is not None
    n = 4000 if entry.at_once else 400
    for value, masses in zip((x, y), laws.masses(), strict=True):
        assert masses.sum() == pytest.approx(1, abs=1e-9)
        result = laws.cell(read_outputs(runner_of(m).draw(value, n)))
        assert result.max() < len(laws.names)  # the law knows every output
        observed = np.cumsum(np.bincount(result, minlength=len(laws.names))) / n
        assert np.abs(observed - np.cumsum(masses)).max() < np.sqrt(
            np.log(2 * 2000 / 1e-9) / (2 * n)
        )


QUANTILES = ["Quantile", "WeightedQuantile", "InverseSensitivity", "Gibbs, in μ"]


@pytest.mark.parametrize(
    "name",
    ["Histogram", "Mean, replace", "Laplace", "Exponential", "RandomizedResponse", *QUANTILES],
)
def test_draws_one_by_one_have_the_law_of_draws_at_once(name: str) -> None:
    """False alarm as above. The public call of each, against the law that the draws at once are
    held to.
    """
    m: Any = next(entry for entry in CATALOGUE if entry.name == name).build(1.0)
    x, y = next(entry for entry in CATALOGUE if entry.name == name).pairs(m)[0]
    laws = law_pair_at(m, x, y)
    assert laws is not None
    assert laws.cell is not None
    one_by_one = [m.draw_once(x) for _ in range(400)]
    observed = (
        np.cumsum(np.bincount(laws.cell(read_outputs(one_by_one)), minlength=len(laws.names))) / 400
    )
    assert np.abs(observed - np.cumsum(laws.masses()[0])).max() < np.sqrt(
        np.log(2 * 2000 / 1e-9) / (2 * 400)
    )


def test_every_law_that_a_class_states_is_met() -> None:
    kinds = {type(entry.build(1.0)) for entry in CATALOGUE}
    stating = {kind for kind in kinds if kind.output_laws is not Mechanism.output_laws}
    assert {type(entry.build(1.0)) for entry in KNOWN} == stating


def test_a_wrong_law_is_seen_by_draws() -> None:
    """The twin of the first test: the draws of twice the noise, against the law."""
    m, wide = mech.Laplace(sensitivity=1, epsilon=1), mech.Laplace(sensitivity=1, epsilon="1/2")
    laws = law_pair_at(m, 0, 1)
    assert laws is not None
    assert laws.cell is not None
    observed = (
        np.cumsum(
            np.bincount(
                laws.cell(read_outputs(wide.perturb(np.zeros(4000, dtype=np.int64)))),
                minlength=len(laws.names),
            )
        )
        / 4000
    )
    assert np.abs(observed - np.cumsum(laws.masses()[0])).max() > np.sqrt(
        np.log(2 * 2000 / 1e-9) / (2 * 4000)
    )


@pytest.mark.parametrize(
    ("m", "x", "y"),
    [
        (mech.Laplace(sensitivity=1, epsilon=1), [0, 0], [1, 1]),  # two places differ
        (mech.Laplace(sensitivity=1, epsilon=1, grid=0.5), 0.3, 1.3),  # rounding decides
        (mech.Hierarchy(edges=[0, 1, 2], epsilon=1, relation="add-remove"), [], [0.5]),
        (mech.TopK(k=3, sensitivity=1, epsilon=1), list(range(40)), list(range(40))),
        (mech.LaplaceThreshold(epsilon=1, delta="1e-3"), [0, 1], [1, 1]),
    ],
    ids=str,
)
def test_what_is_not_known_is_said_to_be_so(m: Any, x: Any, y: Any) -> None:
    assert law_pair_at(m, x, y) is None


@pytest.mark.parametrize("delta", ["1e-3", "1e-9", "1e-13"])
def test_what_is_left_of_a_chance_near_one_keeps_its_digits(delta: str) -> None:
    """1 − π in doubles has none left at 10⁻¹³: with it the rule would be accused of ε = 1.0002."""
    m = mech.OptimalSelection(epsilon=1, delta=delta)
    losses = [sf.audit(m, votes, votes + 1, exact=True) for votes in range(m._sure + 1)]
    assert {r.verdict for r in losses} == {"holds"}
    assert max(r.epsilon_lower for r in losses) == pytest.approx(1, abs=1e-9)
    remaining = [m.keep_probability(votes) for votes in range(m._sure + 1)]
    rough = [
        approx_max_divergence([1 - a, a], [1 - b, b], Fraction(delta))
        for b, a in pairwise(remaining)
    ]
    rough += [
        approx_max_divergence([1 - b, b], [1 - a, a], Fraction(delta))
        for b, a in pairwise(remaining)
    ]
    assert (max(rough) > 1 + 1e-5) is (delta == "1e-13")  # the twin


def promises_that_are_refuted(entry: AuditExample, epsilon: float, most: int) -> list[Any]:
    m: Any = entry.build(min(epsilon, entry.most) if entry.name.startswith("Gibbs") else epsilon)
    laws = [pair for pair in entry.pairs(m)[:most] if law_pair_of(runner_of(m), pair) is not None]
    return [
        (promise, pair)
        for pair in laws
        for promise in m.promises
        if sf.audit(m, *pair, claim=promise, exact=True).verdict == "violated"
    ]


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry.name)
def test_by_arithmetic_no_promise_is_refuted(entry: AuditExample) -> None:
    """Every notion that a mechanism promises, at an ε at which doubles have much to lose."""
    assert promises_that_are_refuted(entry, 20.0, 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 3.0, 20.0, 60.0])
@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry.name)
def test_by_arithmetic_no_promise_is_refuted_at_any_pair(
    entry: AuditExample, epsilon: float
) -> None:
    assert promises_that_are_refuted(entry, epsilon, 9) == []


class Promising(mech.Laplace):
    __slots__ = ()

    @property
    def promises(self) -> Any:
        return super().promises


class Drawing(mech.Laplace):
    __slots__ = ()

    def perturb(self, value: Any, **about: Any) -> Any:
        return super().perturb(value, **about)


def test_the_law_of_a_kind_that_draws_otherwise_is_not_known() -> None:
    assert law_pair_at(Promising(sensitivity=1, epsilon=1), 0, 1) is not None
    assert law_pair_at(Drawing(sensitivity=1, epsilon=1), 0, 1) is None


@pytest.mark.parametrize("x", [0.5, 1.0, True, "1", None])
def test_what_is_no_whole_number_has_no_law(x: Any) -> None:
    assert law_pair_of(runner_of(mech.Laplace(sensitivity=1, epsilon=1)), (x, 1)) is None
    assert law_pair_of(runner_of(mech.LaplaceThreshold(epsilon=1, delta="1e-3")), (x, 1)) is None
    assert law_pair_of(runner_of(mech.AboveThreshold(sensitivity=1, epsilon=1)), ([x], [1])) is None
