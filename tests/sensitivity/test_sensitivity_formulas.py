"""Every closed form against brute force: over all datasets of a small world, and never below;
attained where the world holds the extremes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import sensitivity as sens
from sfumato.errors import Refused
from sfumato.guarantees.neighbour_relations import RELATIONS
from sfumato.sensitivity import CLOSED_FORMS
from sfumato.sensitivity.brute_force import local

VALUES = (Fraction(-2), Fraction(0), Fraction(1), Fraction(3))
LOW, HIGH = -2, 3
PAIRS = tuple(itertools.product((-2, 0, 3), (0, 1)))
MATRIX = [[1, 0, 2, -1], [1, 1, 0, 0], [0, "1/2", -3, 1]]

Statistic = Callable[[Any], Any]


def average(x: Any) -> Fraction:
    return sum(x, Fraction(0)) / len(x)


def moment(ddof: int) -> Statistic:
    def covariance(x: Any) -> Fraction:
        rows = [v if isinstance(v, tuple) else (v, v) for v in x]
        a, b = average([Fraction(p) for p, _ in rows]), average([Fraction(q) for _, q in rows])
        return sum(((p - a) * (q - b) for p, q in rows), Fraction(0)) / (len(rows) - ddof)

    return covariance


def interpolated(q: Fraction) -> Statistic:
    """The definition of numpy.quantile, in rationals."""

    def quantile(x: Any) -> Fraction:
        ordered, place = sorted(x), q * (len(x) - 1)
        i, g = math.floor(place), place - math.floor(place)
        return ordered[i] + (g * (ordered[i + 1] - ordered[i]) if g else 0)

    return quantile


def ranked(q: Fraction) -> Statistic:
    return lambda x: sorted(x)[max(1, math.ceil(q * len(x))) - 1] if x else Fraction(LOW)


def linear(x: Any) -> list[Fraction]:
    return [sum((Fraction(row[VALUES.index(v)]) for v in x), Fraction(0)) for row in MATRIX]


def worst(
    statistic: Statistic, relation: str, size: int, domain: tuple[Any, ...], norm: int | str
) -> Fraction:
    """The largest step between neighbours: of exactly `size` records under replace, of up to as
    many under add-remove.
    """
    neighbour_relation = RELATIONS[relation]
    sizes = [size] if relation == "replace" else range(size + 1)
    datasets = (x for n in sizes for x in itertools.combinations_with_replacement(domain, n))
    return max(
        local(
            statistic,
            x,
            (y for y in neighbour_relation.neighbours(x, domain) if len(y) <= size),
            norm=norm,
        )
        for x in datasets
    )


BOTH = ("add-remove", "replace")
FORMS: list[tuple[str, str, sf.sensitivity.Global, Statistic, int, tuple[Any, ...]]] = [
    *[
        ("count", r, sens.count(relation=r), lambda x: sum(v > 0 for v in x), 3, VALUES)
        for r in BOTH
    ],
    *[
        (
            "counts",
            r,
            sens.counts(2, relation=r),
            lambda x: [sum(v > 0 for v in x), sum(v != 0 for v in x)],
            3,
            VALUES,
        )
        for r in BOTH
    ],
    *[
        (
            "histogram",
            r,
            sens.histogram(4, relation=r),
            lambda x: [sum(v == c for v in x) for c in VALUES],
            3,
            VALUES,
        )
        for r in BOTH
    ],
    *[
        ("sum", r, sens.sum(LOW, HIGH, relation=r), lambda x: sum(x, Fraction(0)), 3, VALUES)
        for r in BOTH
    ],
    *[
        (
            "maximum",
            r,
            sens.maximum(LOW, HIGH, relation=r),
            lambda x: max(x, default=Fraction(LOW)),
            3,
            VALUES,
        )
        for r in BOTH
    ],
    *[
        (
            "minimum",
            r,
            sens.minimum(LOW, HIGH, relation=r),
            lambda x: min(x, default=Fraction(LOW)),
            3,
            VALUES,
        )
        for r in BOTH
    ],
    *[
        (
            "quantile",
            r,
            sens.quantile("1/3", LOW, HIGH, relation=r),
            ranked(Fraction(1, 3)),
            4,
            VALUES,
        )
        for r in BOTH
    ],
    *[("linear", r, sens.linear(MATRIX, relation=r), linear, 2, VALUES) for r in BOTH],
    *[
        (
            "median",
            "replace",
            sens.median(LOW, HIGH, relation="replace", n=n),
            interpolated(Fraction(1, 2)),
            n,
            VALUES,
        )
        for n in (1, 2, 3, 4, 5)
    ],
    *[
        (
            "quantile",
            "replace",
            sens.quantile(q, LOW, HIGH, relation="replace", n=4),
            interpolated(q),
            4,
            VALUES,
        )
        for q in map(Fraction, ("0", "0.3", "1"))
    ],
    *[
        ("mean", "replace", sens.mean(LOW, HIGH, relation="replace", n=n), average, n, VALUES)
        for n in (1, 2, 3)
    ],
    *[
        (
            "variance",
            "replace",
            sens.variance(LOW, HIGH, relation="replace", n=n),
            moment(0),
            n,
            VALUES,
        )
        for n in (2, 3, 4)
    ],
    *[
        (
            "variance",
            "replace",
            sens.variance(LOW, HIGH, relation="replace", n=n, ddof=1),
            moment(1),
            n,
            VALUES,
        )
        for n in (2, 3)
    ],
    *[
        (
            "covariance",
            "replace",
            sens.covariance((LOW, HIGH), (0, 1), relation="replace", n=n, ddof=d),
            moment(d),
            n,
            PAIRS,
        )
        for n, d in ((2, 0), (3, 0), (3, 1))
    ],
]


@pytest.mark.parametrize(
    "place", range(len(FORMS)), ids=lambda i: f"{i}-{FORMS[i][0]}-{FORMS[i][1]}"
)
def test_against_brute_force(place: int) -> None:
    """Equal in every norm: not below the truth, and not above it."""
    name, relation, stated, statistic, size, domain = FORMS[place]
    assert name in CLOSED_FORMS
    assert stated.relation == relation
    values = len(x) if isinstance(x := statistic(domain[:1] * max(size, 1)), list) else 1
    for norm in (1, 2, "inf"):
        largest = worst(statistic, relation, size, domain, norm)
        assert largest == pytest.approx(float(stated.moves(norm, values)), rel=1e-12)
        if norm != 2:
            assert largest == stated.moves(norm, values)


def test_every_form_is_tried() -> None:
    assert {form[0] for form in FORMS} == set(CLOSED_FORMS)


@pytest.mark.parametrize("wrong", [Fraction(9, 10), Fraction(11, 10)])
def test_a_form_that_is_a_tenth_off_is_seen(wrong: Fraction) -> None:
    """The twin: the comparison above would fail for a wrong factor."""
    stated = sens.variance(LOW, HIGH, relation="replace", n=3) * wrong
    assert worst(moment(0), "replace", 3, VALUES, 1) != stated.value


def test_the_lectures_examples() -> None:
    """S-080 and S-082."""
    five = sens.counts(5, relation="replace")
    assert (five.moves(1, 5), five.squared(5), five.moves("inf", 5)) == (5, 5, 1)
    assert sens.mean(-3, 3, relation="replace", n=11).value == Fraction(6, 11)
    assert sens.maximum(-3, 3, relation="replace").value == 6
    assert sens.median(-3, 3, relation="replace", n=11).value == 6


def test_the_forms_are_those_of_numpy() -> None:
    x = np.array([0.1, 0.4, 0.35, 0.9])
    assert interpolated(Fraction(1, 2))([Fraction(v) for v in x.tolist()]) == pytest.approx(
        np.median(x)
    )
    assert moment(1)([Fraction(v) for v in x.tolist()]) == pytest.approx(np.var(x, ddof=1))


@pytest.mark.parametrize("form", [sens.mean, sens.variance])
@pytest.mark.parametrize("n", [None, 100])
def test_a_mean_under_add_remove_is_refused(form: Any, n: int | None) -> None:
    """E-75: n is data there. {0} → {0, 1} moves a mean on [0, 1] by ½, whatever n somebody has in
    mind.
    """
    with pytest.raises(Refused) as caught:
        form(0, 1, relation="add-remove", n=n)
    assert caught.value.code == "sensitivity.mean"
    assert abs(average([Fraction(0)]) - average([Fraction(0), Fraction(1)])) == Fraction(1, 2)


def test_a_sum_over_a_public_number_is_not() -> None:
    assert (sens.sum(0, 1, relation="add-remove") / 100).value == Fraction(1, 100)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: sens.mean(0, 1, relation="replace"), "sensitivity.size"),
        (lambda: sens.mean(0, 1, relation="replace", n=0), "sensitivity.size"),
        (lambda: sens.mean(1, 1, relation="replace", n=5), "sensitivity.range"),
        (lambda: sens.variance(0, 1, relation="replace", n=1), "sensitivity.size"),
        (lambda: sens.variance(0, 1, relation="replace", n=3, ddof=3), "sensitivity.size"),
        (lambda: sens.covariance((0, 1), (0, 1), relation="add-remove"), "sensitivity.mean"),
        (
            lambda: sens.count(relation=None),  # type: ignore[arg-type]  # refused
            "guarantee.relation",
        ),
        (lambda: sens.sum(0, 1, relation="close"), "guarantee.relation"),
        (lambda: sens.histogram(0, relation="replace"), "sensitivity.size"),
        (lambda: sens.linear([], relation="replace"), "sensitivity.matrix"),
        (lambda: sens.linear([[1, 1]], relation="replace"), "sensitivity.matrix"),
        (lambda: sens.linear([[1, 1], [1]], relation="replace"), "sensitivity.matrix"),
        (lambda: sens.quantile(2, 0, 1, relation="replace"), "number.not-a-probability"),
    ],
    ids=[
        "no n",
        "n=0",
        "empty range",
        "one record",
        "ddof",
        "covariance",
        "no relation",
        "relation",
        "cells",
        "no matrix",
        "constant",
        "ragged",
        "q",
    ],
)
def test_refusals(make: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        make()
    assert caught.value.code == code


def test_how_far_doubles_round() -> None:
    """By the largest magnitude in the range, and the number of records; counts and extremes do not
    round.
    """
    unit = Fraction(1, 2**53)
    same: dict[str, Any] = {"relation": "replace", "n": 1000}
    depth = (20 + 10) * unit
    assert sens.mean(-3, 2, **same).rounding == 3 * depth
    assert sens.sum(-3, 2, **same).rounding == 3000 * depth
    assert sens.sum(-3, 2, relation="add-remove").rounding == Fraction(3, 2**21)
    assert sens.variance(-3, 2, **same).rounding == 27 * depth
    assert sens.covariance((-3, 2), (0, 5), ddof=1, **same).rounding == 15 * (
        3 * depth + 1000 * unit
    ) * Fraction(1000, 999)
    assert sens.median(-3, 2, **same).rounding == (24 + 4 * 1000 * 5) * unit
    assert (
        sens.maximum(-3, 2, relation="replace").rounding
        == sens.count(relation="replace").rounding
        == 0
    )
