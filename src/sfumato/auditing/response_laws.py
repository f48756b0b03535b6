"""Laws of reports at two values: of randomized response, and of the local oracles whose report is a
category or its bits.

*Projection*  Of the reports of several people only that of the one who has changed is looked at,
              and of a unary code the two bits in which the values differ: all else has the same law
              under both, and is independent.
*Itself*      A value and itself have one law.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local.direct import Direct
from ..local.unary import Unary
from ..mechanisms.randomized_response import RandomizedResponse
from .canonical_outputs import Outputs
from .law_pair import Known, finite
from .local_reports import bit_of


def response_law(m: RandomizedResponse, x: Any, y: Any) -> Known | None:
    """The report of one person, by its place among the categories; of several people, of the one
    who has changed.
    """
    if m.labels.is_one(x) and m.labels.is_one(y):
        at, place = [m.labels.index(value) for value in (x, y)], ""
    else:
        one, other = (m.labels.codes(value) for value in (x, y))
        if one.ndim != 1 or one.shape != other.shape or (one != other).sum() != 1:
            return None
        who = int(np.argmax(one != other))
        at, place = [int(one[who]), int(other[who])], f"[{who}]"
    p, q = (tuple(m.probability(name, m.categories[i]) for name in m.categories) for i in at)

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        values = drawn.numbers.get(place)
        if values is None:
            return np.full(len(drawn), m.k)
        known = (values >= 0) & (values < m.k)  # NaN is neither
        return np.where(known, np.where(known, values, 0).astype(np.int64), m.k)

    return Known(
        p, q, tuple(f"{name}{f' at {place}' if place else ''}" for name in m.categories), cell
    )


def direct_law(m: Direct, x: Any, y: Any) -> Known:
    at = [m.labels.index(value) for value in (x, y)]
    return finite(tuple({code: m.own if code == i else m.other for code in range(m.k)} for i in at))  # type: ignore[arg-type]


def unary_law(m: Unary, x: Any, y: Any) -> Known:
    """The two bits in which the values differ: all others have the same law under both, and are
    independent.
    """
    at = [m.labels.index(value) for value in (x, y)]
    if at[0] == at[1]:
        return finite(({"any report": 1}, {"any report": 1}))
    own, other = m.own, m.other
    bits = list(product((0, 1), repeat=2))
    p, q = (
        tuple((c if a else 1 - c) * (d if b else 1 - d) for a, b in bits)
        for c, d in ((own, other), (other, own))
    )

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        one, two = (bit_of(drawn, m, place) for place in at)
        return np.where((one < 0) | (two < 0), len(bits), 2 * one + two)

    return Known(p, q, tuple(f"bits {a}{b} of the two values" for a, b in bits), cell)
