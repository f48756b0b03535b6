"""Two answers together: unbiased over the exact law of both reports, likely by EM, and intervals
that hold.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Direct, Hadamard, Hashing, Rappor, Unary, associate
from sfumato.local.decoding.joint_answers import evidence
from sfumato.testing import SeededBits

from .laws import law_of

ORACLES = {
    "direct": Direct(epsilon=1, categories="abc"),
    "unary": Unary(epsilon=1, categories="abc"),
    "rappor": Rappor(f="1/2", p="1/4", q="3/4", categories="abc"),
    "bloom": Rappor(f="1/2", p="1/4", q="3/4", categories="abc", hashes=2, size=4, cohorts=2),
}
JOINT = np.array([[0.4, 0.1], [0.05, 0.25], [0.1, 0.1]])


@pytest.mark.parametrize("name", ORACLES)
def test_scores_and_likelihoods_by_arithmetic(name: str) -> None:
    """Over the client's whole law: the mean score is 1 for the own category and 0 for others, and
    the likelihoods of a report are proportional to its chances.
    """
    oracle = ORACLES[name]
    laws = [law_of(oracle.question, code) for code in range(3)]
    rows = np.frombuffer(b"".join(laws[0]), dtype=np.uint8).reshape(-1, oracle.width)
    likely, scores = evidence(oracle, rows)
    chances = np.array([[float(law[row.tobytes()]) for law in laws] for row in rows])
    assert chances.T @ scores == pytest.approx(np.eye(3), abs=1e-9)
    assert likely / likely.sum(axis=1, keepdims=True) == pytest.approx(
        chances / chances.sum(axis=1, keepdims=True), rel=1e-9
    )


def people(n: int, seed: int) -> tuple[list[str], list[str]]:
    cells = [("abc"[i], "xy"[j]) for i, j in product(range(3), range(2))]
    counts = np.random.default_rng(seed).multinomial(n, JOINT.ravel())
    pairs = [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
    return [first for first, _ in pairs], [second for _, second in pairs]


@pytest.mark.parametrize("first", [Hashing(epsilon=2, categories="abc"), *ORACLES.values()])
def test_the_joint_distribution_is_found(first: Direct) -> None:
    """One of six intervals of 99 % may miss; the most likely distribution is as near."""
    second = Unary(epsilon=2, categories="xy")
    values, others = people(20_000, 1)
    joint = associate(
        first,
        first.perturb(values, bits=SeededBits(1)),
        second,
        second.perturb(others, bits=SeededBits(2)),
    )
    inside = (joint.interval(0.99)[..., 0] <= JOINT) & (joint.interval(0.99)[..., 1] >= JOINT)
    assert inside.sum() >= 5
    assert joint.frequencies.sum() == pytest.approx(1, abs=1e-6)
    assert (joint.frequencies >= 0).all()
    assert np.abs(joint.frequencies - JOINT).max() < 6 * joint.standard_error.max()
    assert joint["a", "x"] == joint.frequencies[0, 0]
    assert len(joint.rows()) == 6


def test_pairs_in_the_wrong_order_show_no_association() -> None:
    """The twin: the same reports, shuffled against each other, give the product of the margins."""
    first, second = Direct(epsilon=4, categories="abc"), Direct(epsilon=4, categories="xy")
    values, others = people(20_000, 1)
    mixed = np.random.default_rng(1).permutation(others)
    joint = associate(
        first, first.perturb(values, bits=SeededBits(1)), second, second.perturb(mixed)
    )
    product_of_margins = JOINT.sum(axis=1)[:, None] * JOINT.sum(axis=0)
    assert np.abs(joint.unbiased - product_of_margins).max() < 0.02
    assert np.abs(joint.unbiased - JOINT).max() > 0.08


def test_refused() -> None:
    first, second = Direct(epsilon=1, categories="abc"), Hadamard(epsilon=1, categories="xyz")
    sent = first.perturb(["a", "b", "c"])
    for reports in (first.perturb(["a", "b"]), []):
        with pytest.raises(Refused) as refused:
            associate(first, sent, first, reports)
        assert refused.value.code == "local.pairs"
    with pytest.raises(Refused):
        associate(first, sent, second, second.perturb(["x", "y", "z"]))
