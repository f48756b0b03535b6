"""Small oracles of every kind, whose clients can be followed to the last coin."""

from __future__ import annotations

from sfumato.local import Direct, FrequencyOracle, Hadamard, Hashing, Rappor, Sketch, Subset, Unary

FEW = ["a", "b", "c", "d"]

SMALL: dict[str, FrequencyOracle] = {
    "direct": Direct(epsilon=1, categories=FEW),
    "coin-toss": Direct.coin_toss(),
    "unary": Unary(epsilon=1, categories=FEW),
    "symmetric": Unary(epsilon="1/2", categories=FEW, symmetric=True),
    "hashing": Hashing(epsilon=1, categories=FEW),
    "hashing-2": Hashing(epsilon="1/10", categories=FEW, buckets=2),
    "hadamard": Hadamard(epsilon=2, categories=FEW),
    "subset": Subset(epsilon=1, categories=FEW, size=2),
    "subset-best": Subset(epsilon="1/10", categories=range(5)),
    "sketch": Sketch(epsilon=4, categories=FEW, rows=3, size=4),
    "sketch-optimised": Sketch(epsilon=1, categories=FEW, rows=2, size=5, optimised=True),
    "hadamard-sketch": Sketch(epsilon=1, categories=FEW, rows=3, size=8, hadamard=True),
    "rappor-once": Rappor(epsilon=2, categories=FEW),
    "rappor": Rappor(f="1/2", p="1/2", q="3/4", categories=["a", "b", "c"]),
    "rappor-bloom": Rappor(
        f="1/2", p="1/4", q="3/4", categories=["a", "b", "c"], hashes=2, size=4, cohorts=2
    ),
}

PLAIN = {
    name: oracle
    for name, oracle in SMALL.items()
    if "hashing" not in name and "sketch" not in name and "bloom" not in name
}
"""Those without a hash function: the support of a report is the same for everybody."""
