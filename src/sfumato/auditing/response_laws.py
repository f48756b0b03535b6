"""Laws of reports at two values, for randomized response and for the local oracles whose report is
a category or its bits.

*Projection*  Of the reports of several people only that of the one who has changed is looked at,
              and of a unary code the two bits in which the values differ: all else has the same law
              under both, and is independent.
*Itself*      A value and itself have one law.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import product
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..local.direct import Direct
from ..local.unary import Unary
from ..mechanisms.randomized_response import RandomizedResponse
from .canonical_outputs import Input, Outputs
from .law_pair import LawPair, finite_law_pair
from .local_reports import bit_of


def response_law(m: RandomizedResponse, x: Input, y: Input) -> LawPair | None:
    """The laws of one person's report, by its place among the categories; of several people, the
    report of the person who has changed.
    """
    if m.labels.is_single_value(x) and m.labels.is_single_value(y):
        at, place = [m.labels.index(value) for value in (x, y)], ""
    else:
        codes_x, codes_y = (m.labels.codes(cast("Iterable[object]", value)) for value in (x, y))
        if codes_x.ndim != 1 or codes_x.shape != codes_y.shape or (codes_x != codes_y).sum() != 1:
            return None
        who = int(np.argmax(codes_x != codes_y))
        at, place = [int(codes_x[who]), int(codes_y[who])], f"[{who}]"
    p, q = (tuple(m.probability(name, m.categories[i]) for name in m.categories) for i in at)

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        values = drawn.numbers.get(place)
        if values is None:
            return np.full(len(drawn), m.k)
        valid = (values >= 0) & (values < m.k)  # NaN is neither
        return np.where(valid, np.where(valid, values, 0).astype(np.int64), m.k)

    return LawPair(
        p, q, tuple(f"{name}{f' at {place}' if place else ''}" for name in m.categories), cell
    )


def direct_law(m: Direct, x: Hashable, y: Hashable) -> LawPair:
    at = [m.labels.index(value) for value in (x, y)]
    law_x, law_y = (
        {code: m.true_support if code == i else m.false_support for code in range(m.k)} for i in at
    )
    return finite_law_pair((law_x, law_y))


def unary_law(m: Unary, x: Hashable, y: Hashable) -> LawPair:
    """The laws of the two bits in which the values differ: all other bits have the same law under
    both values, and are independent.
    """
    at = [m.labels.index(value) for value in (x, y)]
    if at[0] == at[1]:
        return finite_law_pair(({"any report": 1}, {"any report": 1}))
    true_chance, false_chance = m.true_support, m.false_support
    bits = list(product((0, 1), repeat=2))
    p, q = (
        tuple((c if a else 1 - c) * (d if b else 1 - d) for a, b in bits)
        for c, d in ((true_chance, false_chance), (false_chance, true_chance))
    )

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        first, second = (bit_of(drawn, m, place) for place in at)
        return np.where((first < 0) | (second < 0), len(bits), 2 * first + second)

    return LawPair(p, q, tuple(f"bits {a}{b} of the two values" for a, b in bits), cell)
