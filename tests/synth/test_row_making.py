"""From noisy counts to rows: all of it public arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from sfumato.synth.arrange_rows import arrange_rows
from sfumato.synth.choose_tables import choose_tables
from sfumato.synth.fit_tables import NoisyTable, fit_tables
from sfumato.synth.merge_cells import merge_cells, nearest_with_sum
from sfumato.synth.scatter import Scatter


def test_scattered_words_are_those_of_splitmix() -> None:
    """The first words from 0, of the reference implementation (Vigna 2015)."""
    words = Scatter(0).words(3).tolist()
    assert words == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    together = Scatter(5)
    first, second = together.words(4), together.words(4)
    assert np.array_equal(np.concatenate([first, second]), Scatter(5).words(8))
    assert sorted(Scatter(1).order(50).tolist()) == list(range(50))


def test_parts_sum_to_the_number_that_is_divided() -> None:
    weights = np.array([0.5, 0.0, 2.0, 1.3])
    for total in (0, 1, 7, 1_000):
        parts = Scatter(2).apportion(weights, total)
        assert parts.sum() == total
        assert np.abs(parts - total * weights / weights.sum()).max() < 1


def test_rare_keys_become_one_cell_and_spikes_stay() -> None:
    noisy = np.array([90.0, 1.0, 70.0, -2.0, 3.0, 0.5])
    merged = merge_cells(noisy, 5.0, ordered=False)
    assert merged.cell_of.tolist() == [0, 2, 1, 2, 2, 2]
    assert merged.shares[[1, 3, 4]].sum() == pytest.approx(1)
    assert merged.shares[-1] == 0, "missing values are shown only where their count is clear"
    ordered = merge_cells(np.array([2.0, 3.0, 9.0, 500.0, 4.0, 3.0, 80.0]), 5.0, ordered=True)
    assert ordered.cell_of.tolist() == [0, 0, 0, 1, 2, 2, 3]
    counts = ordered.sum_up(np.arange(7.0))
    assert counts.tolist() == [3, 3, 9, 6]
    nothing = merge_cells(np.full(5, -3.0), 5.0, ordered=True)
    assert nothing.count == 1
    assert nothing.shares.sum() == pytest.approx(1)


def test_nearest_counts_are_not_negative() -> None:
    near = nearest_with_sum(np.array([5.0, -3.0, 1.0]), 4.0)
    assert near.tolist() == [4.0, 0.0, 0.0]
    assert nearest_with_sum(np.array([[2.0, 2.0], [2.0, 2.0]]), 4.0).tolist() == [[1, 1], [1, 1]]


def test_shares_sum_to_one_and_hopeless_pairs_are_left_out() -> None:
    scores = {(0, 1): 500.0, (0, 2): 3.0, (1, 2): 400.0}
    shares = choose_tables(scores, 2.0, [4, 10, 10], 1.0)
    assert set(shares) == {(0, 1), (1, 2)}
    assert sum(shares.values()) == 1
    assert shares[1, 2] > shares[0, 1], "more cells, more of the budget"
    assert all(isinstance(share, Fraction) and share > 0 for share in shares.values())
    assert choose_tables(scores, 2.0, [4, 10, 10], 1e6) == {}
    assert choose_tables(dict.fromkeys(scores, 0.0), 2.0, [4, 10, 10], 1.0) == {}


def invented_tables() -> tuple[np.ndarray, list[np.ndarray]]:
    """Four columns in a ring of dependence, and their joint counts."""
    random = np.random.default_rng(4)
    joint = random.gamma(0.3, size=(4, 3, 5, 2))
    joint = joint / joint.sum() * 3_000
    return joint, [joint.sum(axis=tuple(j for j in range(4) if j != i)) for i in range(4)]


def test_fitted_tables_agree() -> None:
    joint, columns = invented_tables()
    random = np.random.default_rng(1)
    noisy = {
        pair: NoisyTable(
            joint.sum(axis=tuple(i for i in range(4) if i not in pair))
            + random.normal(0, 5, (joint.shape[pair[0]], joint.shape[pair[1]])),
            25.0,
        )
        for pair in [(0, 1), (1, 2), (0, 3)]
    }
    one_way = [NoisyTable(counts + random.normal(0, 5, counts.shape), 25.0) for counts in columns]
    fitted = fit_tables(3_000.0, one_way, noisy)
    for (first, second), table in fitted.tables.items():
        assert table.min() >= 0
        assert table.sum() == pytest.approx(3_000)
        assert table.sum(axis=1) == pytest.approx(fitted.columns[first], abs=2)
        assert table.sum(axis=0) == pytest.approx(fitted.columns[second], abs=2)
    for counts, exact in zip(fitted.columns, columns, strict=True):
        assert np.abs(counts - exact).max() < 25
    assert fitted.independent((1, 2)).sum() == pytest.approx(3_000)


def test_rows_have_the_fitted_counts() -> None:
    """Without noise there are rows with exactly these pairs: the mover comes within 1 % of them;
    the tree alone does not.
    """
    joint, columns = invented_tables()
    pairs = list(combinations(range(4), 2))
    exact = {
        pair: NoisyTable(joint.sum(axis=tuple(i for i in range(4) if i not in pair)), 1e-6)
        for pair in pairs
    }
    fitted = fit_tables(3_000.0, [NoisyTable(counts, 1e-6) for counts in columns], exact)

    def distance(rows: np.ndarray) -> float:
        return max(
            float(
                np.abs(
                    np.histogram2d(
                        rows[:, a], rows[:, b], bins=[np.arange(n + 1) for n in table.shape]
                    )[0]
                    - table
                ).sum()
            )
            / 6_000
            for (a, b), table in fitted.tables.items()
        )

    rows = arrange_rows(fitted, pairs, 3_000, Scatter(0))
    assert rows.shape == (3_000, 4)
    assert distance(rows) < 0.01
    tree = fit_tables(
        3_000.0,
        [NoisyTable(counts, 1e-6) for counts in columns],
        {pair: exact[pair] for pair in [(0, 1), (0, 2), (0, 3)]},
    )
    assert distance(arrange_rows(tree, pairs[:3], 3_000, Scatter(0))) > 0.05
    again = arrange_rows(fitted, pairs, 3_000, Scatter(0))
    assert np.array_equal(rows, again), "equal counts give equal rows"
    assert len(arrange_rows(fitted, pairs, 7, Scatter(0))) == 7
