"""The notions, as rows: whoever adds a notion adds its examples here, and the whole suite of
test_notions.py applies.
"""

from __future__ import annotations

from fractions import Fraction

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees import Guarantee

EXAMPLES: dict[str, tuple[Guarantee, ...]] = {
    "Pure": tuple(sf.Pure(e) for e in (0, "1e-6", "0.1", "1/3", 1, 3, 50)),
    "Approx": tuple(
        sf.Approx(e, d)
        for e, d in (
            (0, 0),
            ("0.1", 0),
            ("0.1", "1e-9"),
            (1, "1e-6"),
            (1, "0.01"),
            (5, "1e-300"),
            ("1e-6", "0.1"),
        )
    ),
    "ZCDP": tuple(
        sf.ZCDP(r, d)
        for r, d in ((0, 0), ("1e-6", 0), ("0.02", 0), ("0.5", 0), ("0.5", "1e-6"), (10, 0))
    ),
    "GDP": (
        *(sf.GDP(m) for m in (0, "1e-3", "0.1", "1/3", 1, 5)),
        sf.GDP.from_square(Fraction(1, 3)),
    ),
    "Renyi": (
        sf.Renyi({2: "0.1"}),
        sf.Renyi({2: "0.1", 8: "0.5", 32: 3}),
        sf.Renyi({2: "0.1", 8: "0.5"}, "1e-6"),
        sf.Renyi(lambda a: a / 20),
        sf.Renyi({"1.5": 0, 4: 0}),
    ),
    "Mixed": (
        sf.Pure("0.1") + sf.GDP("0.5"),
        sf.Pure("0.1") + sf.Approx("0.2", "1e-6"),
        sf.Pure("0.1") + sf.ZCDP("0.1", "1e-9") + sf.Renyi(lambda a: a / 50),
    ),
    "Loss": (
        sf.compose([(sf.Pure("0.1"), 3)]),
        sf.compose([sf.GDP("0.5")]),
        sf.compose([mech.Laplace(sensitivity=1, epsilon="0.3")]),
        sf.compose([(mech.Laplace(sensitivity=3, epsilon="0.2"), 2)]),
        sf.compose([(sf.Approx("0.1", "1e-9"), 2)]),
    ),
}

ALL = [example for examples in EXAMPLES.values() for example in examples]
SAME_NOTION = [(a, b) for examples in EXAMPLES.values() for a in examples for b in examples]
EPSILONS = tuple(Fraction(e) for e in ("0", "1e-6", "0.05", "0.5", "1", "2", "5", "20"))
DELTAS = tuple(Fraction(d) for d in ("1e-300", "1e-12", "1e-6", "0.001", "0.1"))
ALPHAS = tuple(Fraction(a) for a in ("0", "1e-6", "0.01", "0.05", "0.3", "0.5", "0.9", "1"))
