"""The Bernstein mechanism: scales, norms, promises, refusals before data, and the promise against
the exact law.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.functions import fits
from sfumato.functions.bernstein import Bernstein, restrict_to_norm
from sfumato.functions.fits import KernelDensity, PriestleyChao
from sfumato.functions.sampled_noise import base_of
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.mechanisms.shared.grid import snap_each
from sfumato.sensitivity.kinds import Global, Local
from sfumato.sensitivity.sampled import SampledFunction
from sfumato.testing import SeededBits


class Forbidden:
    """Data that must not be read."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("data were read")

    def __iter__(self) -> Any:
        raise AssertionError("data were read")


def mean_line(records: Any) -> Any:
    """A line through 0 with the mean as slope: with values in [0, 1], S = 1/n, L1 = (k +
    1)/(2n).
    """
    slope = float(np.mean(np.clip(records, 0, 1)))
    return lambda points: slope * points


def drawn(n: int) -> Any:
    return np.random.default_rng(0).random(n)


def test_the_interface_as_written() -> None:
    rng = np.random.default_rng(1)
    fit = PriestleyChao(0.1)

    def draw_dataset(n: int) -> Any:
        x = rng.random(n)
        return np.column_stack([x, np.sin(x)])

    data = draw_dataset(500)
    s = sf.sample_sensitivity(fit, oracle=draw_dataset, n=500, gamma=0.2)
    curve = sf.Bernstein(fit, degree=25, sensitivity=s).release(data, epsilon=1)
    assert curve(np.linspace(0, 1, 7)).shape == (7,)
    assert isinstance(curve.promise, sf.RandomDP)
    assert curve.promise.guarantee == sf.Pure(1, relation="replace")
    assert curve.promise.gamma == Fraction(1, 5)
    assert s.gamma == Fraction(1, 5)


def test_the_release_is_the_exact_values_with_exact_noise() -> None:
    data = np.linspace(0, 1, 100)
    how = Bernstein(mean_line, degree=10, sensitivity=Fraction(1, 100), slack=0)
    curve = how.release(data, epsilon=2, bits=SeededBits(9))
    noise = how.noise(epsilon=2)
    assert isinstance(noise, Laplace)
    assert curve.coefficients == tuple(
        noise.perturb(mean_line(data)(np.arange(11) / 10), bits=SeededBits(9)).tolist()
    )
    assert curve.noise == noise
    assert curve.promise == sf.Pure(2)
    assert curve.coefficients != how.release(data, epsilon=2).coefficients


@pytest.mark.parametrize("dimensions", [1, 2])
def test_scales_of_the_sup_norm(dimensions: int) -> None:
    """L1 is S·(k + 1)^d, L2 is S·(k + 1)^(d/2), and a hair for the grid; never the number of
    records (E-31).
    """
    size = 26**dimensions
    how = Bernstein(mean_line, degree=25, dimensions=dimensions, sensitivity="0.02", slack=0)
    laplace, gaussian = how.noise(epsilon=1), how.noise(promise=sf.GDP(1))
    assert isinstance(laplace, Laplace)
    assert isinstance(gaussian, Gaussian)
    assert 0.02 * size <= float(laplace.scale) <= 0.02 * size * 1.0002
    assert 0.02 * math.sqrt(size) <= float(gaussian.sigma) <= 0.02 * math.sqrt(size) * 1.0002


def test_the_better_law_is_chosen() -> None:
    """With (ε, δ) the law of smaller variance: Gaussian from the largest move alone, Laplace where
    one value moves at a time. E-42: never the printed scale.
    """
    by_sup = Bernstein(mean_line, sensitivity=1).noise(epsilon=1, delta="1e-4")
    assert isinstance(by_sup, Gaussian)
    assert 16.2439 < float(by_sup.sigma) < 16.25
    printed = 2 * math.sqrt(2 * 26 * math.log(1e4))
    assert by_sup.variance < 2 * 26**2 < 2 * printed**2
    by_l1 = Bernstein(mean_line, sensitivity=Global(l1=1)).noise(epsilon=1, delta="1e-4")
    assert isinstance(by_l1, Laplace)
    assert Bernstein(mean_line, sensitivity=1).noise(epsilon=1, delta=0).promise == sf.Pure(1)


def test_each_norm_and_the_best_of_them() -> None:
    """Laplace takes the least of L1, √m·L2 and m·S; Gaussian the least of L2, L1, √m·S, √(L1·S)."""
    stated = Global(l1=6, l2_squared=4, sup=1, relation="replace")
    scales = {
        norm: float(
            base_of(
                Bernstein(mean_line, sensitivity=stated, norm=norm, slack=0).noise(epsilon=1)
            ).scale
        )
        for norm in ("best", 1, 2, "inf")
    }
    assert scales == pytest.approx({"best": 6, 1: 6, 2: math.sqrt(26) * 2, "inf": 26}, rel=2e-4)
    sigmas = {
        norm: float(
            base_of(
                Bernstein(mean_line, sensitivity=stated, norm=norm, slack=0).noise(
                    promise=sf.GDP(1)
                )
            ).sigma
        )
        for norm in ("best", 1, 2, "inf")
    }
    assert sigmas == pytest.approx({"best": 2, 1: 6, 2: 2, "inf": math.sqrt(26)}, rel=2e-4)
    with pytest.raises(Refused, match=r"sensitivity\.norm"):
        Bernstein(mean_line, sensitivity=1, norm=1).noise(epsilon=1)


def test_a_sampled_norm_is_taken_as_it_was_sampled() -> None:
    """L1 and S of different pairs do not make an L2: γ is for one norm."""
    planned = sf.sample_sensitivity(mean_line, oracle=drawn, n=50, gamma="1/5")
    assert isinstance(planned, SampledFunction)
    s = planned.on(np.linspace(0, 1, 6))
    for norm, l1, square in (
        ("best", s.l1, s.l2_squared),
        ("1", s.l1, s.l1**2),
        ("inf", 6 * s.sup, 6 * s.sup**2),
    ):
        restricted = restrict_to_norm(s, norm, 6)
        assert (restricted.moves(1, 6), restricted.squared(6)) == (l1, square)
    assert restrict_to_norm(s, "2", 6).squared(6) == s.l2_squared
    assert float(restrict_to_norm(s, "2", 6).moves(1, 6)) == pytest.approx(
        math.sqrt(6 * s.l2_squared)
    )
    gaussian = Bernstein(mean_line, degree=5, sensitivity=s).noise(epsilon=1, delta="1e-6")
    assert isinstance(base_of(gaussian), Gaussian)


@pytest.mark.parametrize(
    "promise",
    [sf.Pure(1), sf.Approx(1, "1e-6"), sf.ZCDP("1/2"), sf.GDP(1), sf.Renyi({10: "1/2"})],
    ids=str,
)
@pytest.mark.parametrize(
    "fit",
    [KernelDensity("0.2", records=20), PriestleyChao("0.2", values=(-1, 1), spacing="0.1")],
    ids=["density", "regression"],
)
def test_the_promise_by_arithmetic(fit: Any, promise: sf.Guarantee) -> None:
    """Both ends of the line: what enters the noise are integers, and their move, counted, costs no
    more than was promised; scaled to S alone it would.
    """
    how = Bernstein(fit, degree=15)
    noise = base_of(how.noise(promise=promise))
    exponent = round(math.log2(noise.step))
    rng, worst = np.random.default_rng(6), 0.0
    for trial in range(120):
        rows = rng.random((20, 2)) * (1, 2) - (0, 1)
        if trial % 2:
            rows[:, 0] = np.where(rng.random(20) < 0.9, 0, rows[:, 0])  # wide gaps
        neighbour = rows.copy()
        neighbour[0] = rng.choice([0, 0.3, 0.5, 0.7, 1]), rng.choice([-1, 1])
        rows[0] = rng.choice([0, 0.3, 0.5, 0.7, 1]), rng.choice([-1, 1])
        first, second = (
            fit(d[:, 0] if isinstance(fit, KernelDensity) else d)(how.lattice.points)
            for d in (rows, neighbour)
        )
        moved = snap_each(first, exponent) - snap_each(second, exponent)
        worst = max(
            worst,
            float(np.abs(moved).sum())
            if isinstance(noise, Laplace)
            else math.sqrt(float(np.square(moved.astype(float)).sum())),
        )
    if isinstance(noise, Laplace):
        cost: sf.Guarantee = sf.Pure(Fraction(worst) * noise.step / noise.scale)
    else:
        assert isinstance(noise, Gaussian)
        cost = sf.GDP(Fraction(worst) * noise.step / noise.sigma)
    assert cost <= promise
    sup = how.moves().sup
    too_small = float(sup) if sup is not None else 0.0
    assert worst * float(noise.step) > too_small, (
        "the twin: noise for the largest move of one value would not do"
    )


def test_a_fit_that_breaks_gives_noise_and_nothing_else() -> None:
    def broken(records: Any) -> Any:
        warnings.warn(f"{records}", stacklevel=1)
        raise ValueError(records)

    def odd(records: Any) -> Any:
        return lambda points: np.full(len(points), np.nan)

    fits: list[Any] = [
        broken,
        odd,
        lambda records: 3,
        lambda records: lambda points: "x",
        lambda records: lambda points: points[:2],
    ]
    for fit in fits:
        how = Bernstein(fit, degree=4, sensitivity=1)
        curve = how.release([1, 2], epsilon=1, bits=SeededBits(1))
        assert curve.coefficients == tuple(
            base_of(how.noise(epsilon=1)).perturb(np.zeros(5), bits=SeededBits(1)).tolist()
        )


def test_a_column_of_values_is_read_as_such() -> None:
    how = Bernstein(
        lambda records: lambda points: np.ones((len(points), 1)), degree=4, sensitivity="1e-9"
    )
    assert how.release([0], epsilon=10)(0.5) == pytest.approx(1, abs=1e-6)


def test_refused_before_the_data() -> None:
    local = Local(Fraction(1))
    cases: list[tuple[str, Any]] = [
        ("sensitivity.local", lambda: Bernstein(mean_line, sensitivity=local)),
        ("sensitivity.missing", lambda: Bernstein(mean_line)),
        ("bernstein.fit", lambda: Bernstein(3, sensitivity=1)),  # type: ignore[arg-type]  # refused
        (
            "bernstein.fit",
            lambda: Bernstein(
                mean_line,
                sensitivity=sf.sample_sensitivity(KernelDensity(1), oracle=drawn, n=9, gamma=0.5),
            ),
        ),
        ("sensitivity.norm", lambda: Bernstein(mean_line, sensitivity=1, norm=3)),
        (
            "bernstein.lattice",
            lambda: Bernstein(
                mean_line, sensitivity=sf.sample_sensitivity(np.mean, oracle=drawn, n=9, gamma=0.5)
            ),
        ),
        ("fit.records", lambda: Bernstein(KernelDensity(1))),
        ("fit.values", lambda: Bernstein(PriestleyChao(1))),
        ("fit.inputs", lambda: Bernstein(KernelDensity(1, records=5), dimensions=2)),
        ("number.not-positive", lambda: Bernstein(mean_line, sensitivity=0)),
    ]
    for code, make in cases:
        with pytest.raises(Refused) as caught:
            make().release(Forbidden(), epsilon=1)
        assert caught.value.code == code
    how = Bernstein(mean_line, sensitivity=1)
    for arguments in (
        {},
        {"epsilon": 1, "promise": sf.Pure(1)},
        {"promise": sf.RandomDP(sf.Pure(1), "1/2", over="x")},
        {"delta": "1e-6"},
    ):
        with pytest.raises(Refused, match=r"privatize\.promise"):
            how.release(Forbidden(), **arguments)


def test_the_ledger_is_charged_first() -> None:
    ledger = sf.Ledger.open(budget=sf.Pure(1), dataset="d", unit="record", relation="replace")
    fit = KernelDensity("0.1", records=100)
    how = Bernstein(fit)
    how.release(np.zeros(100), epsilon="3/4", ledger=ledger)
    assert ledger.spent.parameters["epsilon"] == Fraction(3, 4)
    with pytest.raises(sf.BudgetExceeded):
        how.release(Forbidden(), epsilon="1/2", ledger=ledger)
    with pytest.raises(Refused, match=r"guarantee\.relation"):
        how.release(Forbidden(), epsilon="1/8", ledger=ledger, relation="add-remove")
    sampled = sf.sample_sensitivity(fit, oracle=drawn, n=100, gamma="1/2")
    with pytest.raises(Refused, match=r"sensitivity\.sampled"):
        Bernstein(fit, sensitivity=sampled).release(Forbidden(), epsilon="1/8", ledger=ledger)
    assert ledger.spent.parameters["epsilon"] == Fraction(3, 4)


def test_relations_reach_the_promise() -> None:
    how = Bernstein(KernelDensity("0.1", records=100))
    replace, remove = (
        how.noise(epsilon=1),
        how.noise(epsilon=1, relation="add-remove", unit="patient"),
    )
    assert (replace.promise, remove.promise) == (
        sf.Pure(1, relation="replace"),
        sf.Pure(1, relation="add-remove", unit="patient"),
    )
    assert float(base_of(replace).scale / base_of(remove).scale) == pytest.approx(2, rel=1e-3)
    with pytest.raises(Refused, match=r"guarantee\.relation"):
        Bernstein(mean_line, sensitivity=Global(1, relation="replace")).noise(
            epsilon=1, relation="add-remove"
        )


def test_approximation_of_a_release() -> None:
    how = Bernstein(mean_line, degree=25, sensitivity=1)
    assert how.approximation(smooth=(2, 2)) == pytest.approx(0.01)
    assert how.approximation(hoelder=(1, 1)) == pytest.approx(0.1)
    with pytest.raises(Refused, match=r"bernstein\.smoothness"):
        how.approximation()


def test_several_dimensions() -> None:
    """A nearly noiseless release in the plane is the polynomial of the fit."""
    fit = KernelDensity("0.3", inputs=[(0, 1), (0, 2)], records=50)
    data = np.random.default_rng(8).random((50, 2)) * (1, 2)
    curve = Bernstein(fit, degree=30, iterations=3).release(data, promise=sf.Pure(10**8))
    points = np.array([[0.2, 0.4], [0.9, 1.7], [0.5, 1.0]])
    assert curve(points) == pytest.approx(fit(data)(points), abs=0.01)
    assert curve([0.5, 1.0]) == pytest.approx(curve(points)[2], abs=1e-12)


def test_it_prints() -> None:
    assert (
        repr(Bernstein(KernelDensity(1, records=5)))
        == "Bernstein(KernelDensity, degree=25 on [0, 1], iterations=1, norm=best)"
    )


def test_what_is_no_table_is_refused_before_the_charge(tmp_path: Path) -> None:
    book = sf.Ledger.open(
        tmp_path / "book", budget=sf.Pure(9), dataset="d", unit="row", relation="replace"
    )
    for fit, data in (
        (KernelDensity(records=5), np.ones((5, 2, 2))),
        (PriestleyChao(values=(0, 1)), np.ones(5)),
        (KernelDensity(records=5), None),
    ):
        with pytest.raises(Refused) as caught:
            Bernstein(fit, degree=3).release(data, epsilon=1, relation="replace", ledger=book)
        assert caught.value.code == "fit.inputs"
    assert book.spent.parameters["epsilon"] == 0


def test_nobody_charges_the_noise_of_a_sampled_curve(tmp_path: Path) -> None:
    book = sf.Ledger.open(
        tmp_path / "book", budget=sf.Pure(9), dataset="d", unit="row", relation="replace"
    )
    curve = Bernstein(
        mean_line,
        degree=5,
        sensitivity=sf.sample_sensitivity(mean_line, oracle=drawn, n=50, gamma="1/5"),
    ).release(drawn(50), epsilon=1)
    for copy in (curve, sf.Curve.from_json(curve.to_json())):
        assert copy.noise.promises == (curve.promise,)
        with pytest.raises(Refused) as caught:
            book.charge(copy.noise)
        assert caught.value.code == "guarantee.does-not-follow"


BOXES: dict[str, Any] = {
    "KernelDensity": (fits.KernelDensity("0.1", records=20), 1),
    "KernelDensity, two columns": (
        fits.KernelDensity("0.2", inputs=((0, 1), (0, 1)), records=20),
        2,
    ),
    "PriestleyChao": (fits.PriestleyChao("0.3", values=(-1, 1)), 2),
    "PriestleyChao, spacing": (fits.PriestleyChao("0.3", values=(-1, 1), spacing="0.05"), 2),
    "LinearRegression": (fits.LinearRegression(records=20), 2),
    "LogisticRegression": (fits.LogisticRegression(records=20), 2),
}
REPLACE_ONLY = {"LinearRegression", "LogisticRegression"}


@pytest.mark.parametrize("name", BOXES)
def test_under_add_remove_the_order_of_records_changes_nothing(name: str) -> None:
    """Under add-remove a dataset is a multiset: the values that get noise are the same for every
    order of the records, with ties, records beyond the ends and records that are no numbers among
    them. A fit that uses the first records only is refused under add-remove.
    """
    fit, columns = BOXES[name]
    how = Bernstein(fit, degree=6)
    if name in REPLACE_ONLY:
        with pytest.raises(Refused) as refused:
            how.noise(promise=sf.Pure(1, relation="add-remove"))
        assert refused.value.code == "fit.relation"
        return
    assert how.noise(promise=sf.Pure(1, relation="add-remove")).relation == "add-remove"
    rng = np.random.default_rng(7)
    cells = [
        0,
        0.0,
        -0.0,
        0.5,
        1,
        0.3,
        9.0,
        -9,
        math.nan,
        math.inf,
        None,
        "x",
        10**400,
        True,
        Fraction(1, 3),
    ]
    for _ in range(60):
        count = int(rng.integers(2, 12))
        records: list[Any] = [
            tuple(cells[int(i)] for i in rng.integers(0, len(cells), columns)) for _ in range(count)
        ]
        if rng.random() < 0.3:
            records[0] = "no row"
        values = [
            how.lattice.values(fit([records[int(i)] for i in rng.permutation(count)]))
            for _ in range(6)
        ]
        assert all((curve_values == values[0]).all() for curve_values in values)


def test_every_fit_is_in_the_test_of_orders() -> None:
    assert {name.partition(",")[0] for name in BOXES} == {
        name for name in fits.__all__ if name[0].isupper()
    }
