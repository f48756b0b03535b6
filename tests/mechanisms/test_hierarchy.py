"""Hierarchies: the closed form against matrices, sensitivity by enumeration, the choice of
branching.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.neighbour_relations import RELATIONS
from sfumato.mechanisms.hierarchy import average_factor, blocks, fit_cells, height, range_factor
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal

TREES = [(2, 2), (8, 2), (9, 3), (10, 3), (16, 4), (7, 7), (5, 2)]


def strategy(cells: int, branching: int) -> np.ndarray:
    """A, written out: a row of ones for each block."""
    levels = height(cells, branching)
    n = branching ** (levels - 1)
    return np.array(
        [
            [float(k * branching**d <= i < (k + 1) * branching**d) for i in range(n)]
            for d in range(levels)
            for k in range(n // branching**d)
        ]
    )


def test_height() -> None:
    assert [height(n, 2) for n in (1, 2, 3, 4, 1024, 1025)] == [1, 2, 3, 3, 11, 12]
    assert height(1024, 1024) == 2
    assert height(1024, 11) == 4


@pytest.mark.parametrize(("cells", "branching"), TREES)
def test_the_closed_form_is_least_squares(cells: int, branching: int) -> None:
    A, levels = strategy(cells, branching), height(cells, branching)
    n = A.shape[1]
    y = np.random.default_rng(cells).normal(size=len(A))
    tree = np.split(y, np.cumsum([n // branching**d for d in range(levels)])[:-1])
    best, *_ = np.linalg.lstsq(A, y, rcond=None)
    np.testing.assert_allclose(fit_cells(tree, branching), best, atol=1e-9)
    counts = np.arange(cells)
    assert np.array_equal(
        np.concatenate(blocks(counts, branching, levels)), A @ np.pad(counts, (0, n - cells))
    )


@pytest.mark.parametrize(("cells", "branching"), TREES)
def test_variances_of_ranges(cells: int, branching: int) -> None:
    A = strategy(cells, branching)
    inverse, n = np.linalg.inv(A.T @ A), A.shape[1]
    factors = []
    for start, stop in itertools.combinations(range(cells + 1), 2):
        w = np.array([float(start <= i < stop) for i in range(n)])
        factors.append(w @ inverse @ w)
        assert float(range_factor(start, stop, cells, branching)) == pytest.approx(
            factors[-1], rel=1e-9
        )
    assert average_factor(cells, branching) == pytest.approx(np.mean(factors), rel=1e-9)


@pytest.mark.parametrize("name", ["replace", "add-remove"])
def test_sensitivity_by_enumeration(name: str) -> None:
    h = mech.Hierarchy(edges=[0, 1, 2, 3, 4], epsilon=1, branching=2, relation=name)
    flat = mech.Histogram(edges=[0, 1, 2, 3, 4], epsilon=1, relation=name)

    def tree(x: Any) -> np.ndarray:
        return np.concatenate(blocks(flat.tally(x), 2, 3))

    moved = [tree(x) - tree(y) for x, y in RELATIONS[name].pairs((0.5, 1.5, 2.5, 3.5, None), 2)]
    most = 3 if name == "add-remove" else 4  # the whole is the same after a replacement
    assert (
        max(np.abs(m).sum() for m in moved)
        == max(np.square(m).sum() for m in moved)
        == most
        == h.noise.sensitivity
    )
    assert h.promise == sf.Pure(1, relation=name)


def test_released_ranges() -> None:
    """200 releases of one range: mean and variance within six standard errors (false alarm below
    1e-8 and, for the variance, 1e-6 by kurtosis ≤ 6).
    """
    h = mech.Hierarchy(edges=range(65), epsilon=1, branching=4, relation="add-remove")
    x = np.repeat(np.arange(64) + 0.5, 3)
    bits = SeededBits(8)
    off = np.array([h.perturb(x, bits=bits).range(5, 40) - 105 for _ in range(200)])
    assert abs(off.mean()) < 6 * np.sqrt(h.variance(5, 40) / 200)
    assert abs(off.var() / h.variance(5, 40) - 1) < 6 * np.sqrt(5 / 200)
    assert (np.abs(off) <= h.error(5, 40, 0.9)).sum() >= 150
    assert h.error(5, 40) < 2.2 * 1.96 * np.sqrt(h.variance(5, 40)) + 8
    release = h.perturb(x, bits=bits)
    assert release.between(5, 40) == release.range(5, 40)
    assert release.range(0, 64) == pytest.approx(release.range(0, 17) + release.range(17, 64))
    assert release.promise == h.promise
    assert release.error(5, 40) == h.error(5, 40)


def test_B_15b_a_binary_tree_without_consistency_loses_to_a_flat_histogram() -> None:
    """1024 bins: half of them, flat, 512·2 = 1024; at most 18 blocks of 11 levels, 18·2·11² = 4356.
    Consistency and another branching win.
    """
    assert 512 * 2 * 1**2 == 1024
    assert 18 * 2 * height(1024, 2) ** 2 == 4356
    best = mech.Hierarchy(edges=range(1025), epsilon=1, relation="add-remove")
    assert best.branching == 11
    assert best.levels == 4
    worst = max(best.variance(a, b) for a in range(0, 512, 37) for b in range(600, 1025, 17))
    assert worst < 1024
    binary = mech.Hierarchy(edges=range(1025), epsilon=1, branching=2, relation="add-remove")
    assert binary.variance(1, 1023) < 4356
    assert binary.variance(0, 512) < 1024


@pytest.mark.parametrize(("cells", "branching"), [(16, 16), (64, 8), (256, 16), (1024, 11)])
def test_best_branching(cells: int, branching: int) -> None:
    assert mech.best_branching(cells, epsilon=1) == branching
    average = {
        b: mech.Hierarchy(
            edges=range(cells + 1), epsilon=1, branching=b, relation="add-remove"
        ).noise.variance
        * average_factor(cells, b)
        for b in (2, branching, cells)
    }
    assert min(average, key=lambda b: average[b]) == branching


def test_categories_and_a_gaussian() -> None:
    h = mech.Hierarchy(
        categories="abcdefgh", epsilon="1/2", delta="0.01", branching=2, relation="replace"
    )
    assert isinstance(h.noise, mech.Gaussian)
    assert h.noise.moves_squared == 6
    assert h.perturb(list("aabbc")).counts.shape == (8,)
    refusal(lambda: h.perturb([]).between(0, 1), "hierarchy.range")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"branching": 1}, "hierarchy.branching"),
        ({"branching": 9}, "hierarchy.branching"),
        ({"edges": [0, 1]}, "hierarchy.axis"),
        ({"edges": [[0, 1], [0, 1]]}, "hierarchy.axis"),
        ({"relation": None}, "mechanism.relation"),
    ],
    ids=str,
)
def test_parameters_are_refused(arguments: dict[str, Any], code: str) -> None:
    refusal(
        lambda: mech.Hierarchy(
            **({"edges": range(9), "epsilon": 1, "relation": "replace"} | arguments)
        ),
        code,
    )


def test_ranges_are_refused() -> None:
    h = mech.Hierarchy(edges=range(9), epsilon=1, relation="replace")
    for start, stop in ((3, 3), (-1, 2), (0, 9)):
        refusal(lambda a=start, b=stop: h.variance(a, b), "hierarchy.range")
    refusal(lambda: h.perturb([]).between(0.5, 3), "hierarchy.range")


def test_it_shows_its_cells() -> None:
    answer = mech.Hierarchy(edges=range(65), epsilon=1, relation="add-remove").perturb([3] * 50)
    first, _, *cells, hidden, note = repr(answer).splitlines()
    assert first.startswith("private counts of 64 cells, for ranges · the first ± ")
    assert cells[3].startswith("[3, 4)")
    assert (len(cells), hidden) == (40, "… and 24 more")
    assert note.startswith("range(start, stop)")
