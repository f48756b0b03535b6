"""The one interface: every oracle perturbs, aggregates, estimates and promises alike, and answers
every value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import local
from sfumato.errors import Refused
from sfumato.local import FrequencyOracle, Oracle, client
from sfumato.mechanisms.shared.mechanism import Mechanism
from sfumato.testing import SeededBits

from ..refusing import refusal
from .cases import SMALL
from .drawn import agrees
from .laws import law_of_call

each = pytest.mark.parametrize("name", SMALL)


@each
def test_from_values_to_frequencies(name: str) -> None:
    oracle = SMALL[name]
    values = list(oracle.categories) * 20
    reports = oracle.perturb(values, bits=SeededBits(1))
    assert len(reports) == len(values)
    assert reports.payload.shape == (len(values), oracle.width)
    e = oracle.estimate(reports)
    assert e.frequencies.shape == (oracle.k,)
    assert e.interval(0.95).shape == (oracle.k, 2)
    assert (e.interval(0.95)[:, 0] <= e.interval(0.95)[:, 1]).all()
    assert e.reports == len(values)
    assert len(oracle.perturb(oracle.categories[0])) == 1
    assert len(oracle.perturb(np.array(values).reshape(2, -1))) == len(values)
    assert len(oracle.perturb([])) == 0


@each
def test_a_promise_like_any_other(name: str) -> None:
    oracle = SMALL[name]
    assert isinstance(oracle, Oracle)
    assert isinstance(oracle, Mechanism)
    assert oracle.promise == sf.Pure(oracle.epsilon)
    assert 3 * oracle.promise == sf.Pure(3 * oracle.epsilon)
    assert oracle.to(sf.Approx, delta=0).epsilon() == pytest.approx(float(oracle.epsilon))
    assert type(oracle).__name__ in repr(oracle)
    assert hash(oracle) == hash(SMALL[name])


def test_a_ledger_takes_it(tmp_path: Path) -> None:
    book = sf.Ledger.open(
        tmp_path / "book.ledger", budget=sf.Pure(3), dataset="d", unit="person", relation="replace"
    )
    book.charge([SMALL["unary"]], memo="a survey")
    assert book.spent.epsilon() == 1


@each
def test_every_value_is_answered(name: str) -> None:
    """As one value, in a list, in an array: whether there is a report does not depend on it."""
    oracle = SMALL[name]
    for values, count in (
        ("secret", 1),
        (["a", "secret"], 2),
        ([float("nan"), None, (1, 2), ["a"], b"a"], 5),
        (np.array(["secret", "a"]), 2),
        (3.5, 1),
    ):
        reports = oracle.perturb(values)
        assert len(reports) == count
        assert oracle._well_formed(reports.payload).all()
    assert len(oracle.perturb(np.array("secret"))) == 1


@pytest.mark.parametrize(
    "name", [name for name, oracle in SMALL.items() if oracle.kind != "hashing"]
)
def test_the_law_of_other_values_is_that_of_the_client(name: str) -> None:
    """100 000 reports of a value that is no category, beside the client's law, enumerated: false
    alarm 10⁻⁷ a case, seeded bits. If all of them became the first category it would be seen.
    """
    oracle = SMALL[name]
    law = {
        report[4:]: p
        for report, p in law_of_call(lambda: client.perturb(oracle.question, "secret")).items()
    }
    assert agrees(oracle.perturb(["secret"] * 100_000, bits=SeededBits(5)), law)
    assert not agrees(oracle.perturb([oracle.categories[0]] * 100_000, bits=SeededBits(5)), law)


def test_other_values_become_uniform_categories() -> None:
    """Every category as often as any other among 60 000, within 6 standard deviations of the
    binomial law: false alarm below 10⁻⁶. Listed ones stay.
    """
    codes = SMALL["hashing"]._codes(["secret"] * 60_000 + ["c"], SeededBits(6))
    assert codes[-1] == 2
    assert (
        np.abs(np.bincount(codes[:-1], minlength=4) - 15_000).max() < 6 * (60_000 * 3 / 16) ** 0.5
    )


@each
def test_no_reports(name: str) -> None:
    with pytest.raises(Refused) as refused:
        SMALL[name].estimate([])
    assert refused.value.code == "response.reports"


@each
def test_random_bytes_are_refused_or_counted(name: str) -> None:
    """Whatever arrives, nothing but a refusal is raised; what is well-formed is counted."""
    oracle = SMALL[name]
    generator = np.random.default_rng(1)
    head = oracle.perturb(oracle.categories[0])[0][:4]
    blobs = [head + generator.bytes(oracle.width) for _ in range(200)] + [
        generator.bytes(oracle.width + 4) for _ in range(20)
    ]
    reports = oracle.read(blobs, drop=True)
    assert len(reports) <= 200
    assert oracle.aggregate(reports).reports == len(reports)


@each
def test_shuffled(name: str) -> None:
    """Among 1000 honest reports one keeps less ε at δ = 10⁻⁶ than alone, by the clone pair."""
    oracle = SMALL[name]
    loss = oracle.shuffled(1000)
    assert isinstance(loss, sf.Loss)
    assert loss.relation == "replace"
    if oracle.epsilon <= 1:
        assert loss.epsilon(1e-6) < 0.6 * float(oracle.epsilon)


def test_the_numbers_of_shuffling() -> None:
    """ε₀ = 1, δ = 10⁻⁶: 0.1487 at n = 10³ (closed form 0.5662), 0.0432 at 10⁴ (0.2140)."""
    from sfumato.accounting.loss.shuffle_pair import closed_form

    oracle = SMALL["direct"]
    for n, clones, closed in ((10**3, 0.1487, 0.5662), (10**4, 0.0432, 0.2140)):
        assert oracle.shuffled(n).epsilon(1e-6) == pytest.approx(clones, abs=2e-4)
        assert float(closed_form(1, n, "1e-6")) == pytest.approx(closed, abs=1e-4)


def test_frequencies_are_one_kind() -> None:
    assert all(isinstance(oracle, FrequencyOracle) for oracle in SMALL.values())


@pytest.mark.parametrize(
    "build",
    [
        lambda **about: local.Direct(epsilon=1, **about),
        lambda **about: local.OneBit(epsilon=1, low=0, high=1, **about),
        lambda **about: local.Ordinal(epsilon=1, edges=range(4), **about),
        lambda **about: local.PrefixTree(epsilon=1, length=2, **about),
        lambda **about: local.Rappor(epsilon=1, categories="ab", **about),
        lambda **about: local.Panel(local.Direct(epsilon=1), waves=2, **about),
        lambda **about: local.best(1, k=3, **about),
    ],
)
def test_an_unknown_keyword_is_a_type_error(build: Callable[..., object]) -> None:
    build(relation="replace", unit="person")
    with pytest.raises(TypeError, match="unexpected keyword argument 'units'"):
        build(units="person")


def test_signatures_show_the_shared_keywords() -> None:
    for oracle in (local.Direct, local.Rappor, local.Sketch, local.PrefixTree, local.Panel):
        parameters = inspect.signature(oracle).parameters
        assert list(parameters)[-2:] == ["relation", "unit"]
        assert all(shown.kind is not shown.VAR_KEYWORD for shown in parameters.values())
    assert inspect.signature(local.Rappor).parameters["cohorts"].default == 1


@pytest.mark.parametrize("error", ["0.2", "0.02", "0.002"])
@pytest.mark.parametrize(
    ("oracle", "at"),
    [
        (sf.local.Unary(epsilon=1, categories=range(5)), {"frequency": "0.1"}),
        (sf.local.Piecewise(epsilon=1, low=0, high=1), {}),
        (sf.local.Ordinal(epsilon=1, edges=[0, 1, 2]), {}),
        (sf.local.PrefixTree(epsilon=2, length=2), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_least_number_of_reports_for_an_error(oracle: Any, at: Any, error: str) -> None:
    n, z = oracle.reports_needed(error, **at), NormalDist().inv_cdf(0.975)
    assert z * oracle.variance(n, **at) ** 0.5 <= float(error)
    assert n == 1 or z * oracle.variance(n - 1, **at) ** 0.5 >= float(error) * (1 - 1e-12)


def test_several_questions_need_as_many_as_the_worst() -> None:
    parts = {
        "a": sf.local.Direct(epsilon=1, categories=["yes", "no"]),
        "b": sf.local.Direct(epsilon=1, categories=range(20)),
    }
    together = sf.local.Questionnaire(parts)
    n = together.reports_needed("0.05")
    assert max(together.variance(n).values()) * 1.96**2 == pytest.approx(0.05**2, rel=1e-2)


def test_an_error_out_of_reach_is_refused() -> None:
    sketch = sf.local.Sketch(epsilon=1, categories=range(100))
    refusal(lambda: sketch.reports_needed("1e-6"), "local.error")
    refusal(lambda: sketch.reports_needed(0), "number.not-positive")


def test_values_that_a_report_cannot_say_are_counted() -> None:
    assert sf.local.Direct(epsilon=1, categories=["a", "b"]).count_outside(["a", "A", None]) == 2
    number = sf.local.Piecewise(epsilon=1, low="0.1", high=10)
    assert number.count_outside([0.1, 10, 0.09, 10.01, "x", float("nan"), 5]) == 4
    edges = sf.local.Ordinal(epsilon=1, edges=[0, 1, 2])
    assert edges.count_outside([0, 2, 2.5, -1]) == 2
    assert sf.local.Ordinal(epsilon=1, categories="abc").count_outside("abcd") == 1
    assert sf.local.PrefixTree(epsilon=1, length=2).count_outside(["ß", "ab"]) == 1
