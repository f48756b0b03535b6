"""What a released histogram is made into, for nothing."""

from __future__ import annotations

import numpy as np

from sfumato import mechanisms as mech
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal
from .histograms import released


def test_processing() -> None:
    r = released([-3, 5, 4])
    assert r.total == 6
    assert r.nonnegative().counts.tolist() == [0, 5, 4]
    # the nearest point of the simplex takes 1½ of both; whole numbers, the first half going up
    assert r.summing_to().counts.tolist() == [0, 4, 2]
    assert r.summing_to(12).counts.tolist() == [0, 7, 5]
    assert released([-3, -1, -2]).summing_to().counts.tolist() == [0, 0, 0]
    refusal(lambda: r.nonnegative().moment(1), "histogram.processed")
    refusal(lambda: r.summing_to(-1), "histogram.rows")


def test_a_synthetic_dataset() -> None:
    """Every row in its bin, as often as the counts say: a share of 60 000 strays by six standard
    deviations with probability 2e-9.
    """
    r = released([-3, 100, 300])
    rows = r.synthetic(60_000, bits=SeededBits(4))
    assert 1 <= rows.min() <= rows.max() < 3
    share = (rows >= 2).mean()
    assert abs(share - 0.75) < 6 * np.sqrt(0.75 * 0.25 / 60_000)
    assert r.synthetic(bits=SeededBits(4)).size == 397
    assert released([-3, -1, 0]).synthetic(100, bits=SeededBits(4)).size == 100, (
        "nothing counted: uniform over the bins"
    )
    assert (r.synthetic(100, bits=SeededBits(4)) == r.synthetic(100, bits=SeededBits(4))).all()


def test_it_shows_its_counts() -> None:
    r = released([-3, 100, 300])
    first, *lines = repr(r).splitlines()
    assert first.startswith("private histogram · 3 cells · each ± ")
    assert [line.split()[-1] for line in lines] == ["count", "-3", "100", "300"]
    assert "post-processed" in repr(r.nonnegative())
    assert "<td" in r._repr_html_()


def test_many_cells_are_not_all_written() -> None:
    r = mech.Histogram(edges=[range(200), range(300)], epsilon=1, relation="add-remove").perturb(
        [[1, 2], [3, 4]]
    )
    lines = repr(r).splitlines()
    assert len(lines) == 43
    assert lines[2].split()[:4] == ["[0,", "1)", "[0,", "1)"]
    assert lines[-1] == f"… and {199 * 299 - 40:,} more".replace(",", " ")
    assert len(repr(r.mechanism)) < 300
