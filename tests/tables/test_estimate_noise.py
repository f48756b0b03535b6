"""Estimates of candidates: near the exact objective, so that the best one is never left out."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sfumato.guarantees import Approx, Guarantee
from sfumato.mechanisms import CountThreshold, Gaussian, Laplace
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates.component import Component
from sfumato.tables.declare.declaration import declare
from sfumato.tables.plan import choose_noise
from sfumato.tables.plan.choose_noise import TOTAL, calibrate
from sfumato.tables.plan.choose_selection import estimate_threshold
from sfumato.tables.plan.components import components_of
from sfumato.tables.plan.estimate_noise import Candidate, estimate_objective, leave_out_worse
from sfumato.tables.query.stages import Query, Rows

from .test_split_promise import BOUNDS, SCHEMA, query_of, random_question
from .worlds import Nobody

UNITS: list[dict[str, Any]] = [{}, *({"unit": "user", "max_rows": rows} for rows in (1, 4, 30))]
PROMISES = [Approx(1, "1e-6"), Approx("0.1", "1e-9"), Approx(6, "1e-5")]


def private_query(draw: random.Random, **about: Any) -> Query:
    """Return counts, sums or means by keys that are selected."""
    choices = {"n": ag.count(), "s": ag.sum("x"), "m": ag.mean("y"), "d": ag.std("z")}
    if "unit" in about:
        choices["p"] = ag.count_units()
    names = draw.sample(sorted(choices), draw.randint(1, 3))
    rows = Rows.of(declare(name="t", schema=SCHEMA, bounds=BOUNDS, **about), Nobody())
    return rows.group_by("city").aggregate(**{name: choices[name] for name in names})


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("groups", ["all rows", "public", "private"])
def test_estimates_change_no_calibration(
    groups: str, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, left, compared = random.Random(groups + relation), 0, 0

    def keep_all(candidates: list[Candidate], *about: Any) -> list[Candidate]:
        nonlocal left
        left += len(candidates) - len(leave_out_worse(candidates, *about))
        for candidate in candidates:
            check(candidate, *about)
        return candidates

    def check(candidate: Candidate, columns: Any, promise: Guarantee, size: int) -> None:
        nonlocal compared
        estimate = estimate_objective(candidate, columns, promise, size)
        draft = choose_noise._draft(candidate, promise)
        if estimate == estimate and draft is not None:  # a number
            ratio = estimate / choose_noise._objective(draft, columns, size)
            assert (0.8 < ratio < 1.2) if groups == "private" else abs(ratio - 1) < 1e-4
            compared += 1

    for _ in range(12):
        about = draw.choice(UNITS) | {"relation": relation}
        promise, size = draw.choice(PROMISES), draw.choice([100, 1000, 100_000])
        query = (
            private_query(draw, **about)
            if groups == "private"
            else query_of(
                random_question(draw), "public" if groups == "public" else "none", **about
            )
        )
        needed = components_of(query)
        components = needed.components
        if groups == "private" and any(component.name == "count" for component in components):
            components = (*components, Component(TOTAL, "one", pooled=True))
        fast = calibrate(query, components, needed.columns, promise, size)
        with monkeypatch.context() as patch:
            patch.setattr(choose_noise, "leave_out_worse", keep_all)
            slow = calibrate(query, components, needed.columns, promise, size)
        assert repr(fast.mechanism) == repr(slow.mechanism)
    assert left >= 5
    assert compared >= 12


@pytest.mark.parametrize("scale", [100, 5_000, 10**6])
@pytest.mark.parametrize("most", [1, 400])
@pytest.mark.parametrize("law", ["Laplace", "Gaussian"])
def test_the_threshold_of_a_count(law: str, most: int, scale: int) -> None:
    noise = (
        Laplace(sensitivity=most, scale=scale)
        if law == "Laplace"
        else Gaussian(sensitivity=most, sigma=scale)
    )
    exact = CountThreshold(noise=noise, delta="1e-7", total=most, most=most)
    near = estimate_threshold(scale, 1e-7, most, most, gaussian=law == "Gaussian")
    assert abs(near / exact.threshold - 1) < 0.05
    twin = estimate_threshold(scale * 1.2, 1e-7, most, most, gaussian=law == "Gaussian")
    assert abs(twin / exact.threshold - 1) > 0.05
