"""The laws of a mechanism's outputs at two inputs, on finitely many cells: `output_laws` of the
mechanism, interpreted.

*Stated*      A law is what the class of a mechanism states, and its draws follow. Of a class that
              derives from one and draws otherwise nothing is known here.
*Projection*  Of outputs that differ at one place only that place is looked at, of the bits of a
              report only those that differ.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from ..guarantees.finite.channel import Channel
from ..local.frequency_oracle import FrequencyOracle
from ..local.oracle import MOST_BITS, MOST_SUPPORTED
from ..mechanisms.shared.mechanism import Mechanism, is_library_kind
from ..mechanisms.stated.stated_laws import FiniteLaws, ShiftedNoise
from .canonical_outputs import Input, Outputs
from .law_pair import LawPair, finite_law_pair, interpret_finite_laws
from .noise_laws import noise_law_pair

_LEAST = 1e-300  # what is less likely a double may have forgotten, in part or altogether


def law_pair_at(what: Mechanism | Channel, x: Input, y: Input) -> LawPair | None:
    """Return the two laws of the output, or None where they are not known."""
    if isinstance(what, Channel):
        law_x, law_y = (dict(zip(what.outputs, what.row(v), strict=True)) for v in (x, y))
        return finite_law_pair((law_x, law_y))
    laws = what.output_laws(x, y) if draws_as_stated(type(what)) else None
    if laws is None:
        return None
    if isinstance(laws, ShiftedNoise):
        pair = noise_law_pair(laws.law, laws.x, laws.y, laws.place, laws.step)
    else:
        pair = interpret_finite_laws(laws)
        if laws.place is not None:
            pair = replace(pair, cell=lambda drawn: _number_at(drawn, laws))
        elif laws.bits:
            assert isinstance(what, FrequencyOracle)
            pair = replace(pair, cell=lambda drawn: _bits_at(drawn, what, laws))
    return None if pair is None else replace(pair, least=_LEAST)


def _number_at(drawn: Outputs, laws: FiniteLaws) -> NDArray[np.int64]:
    """Read the number of the outcome at the place of each output."""
    count = len(laws.p)
    values = drawn.numbers.get(laws.place or "")
    if values is None:
        return np.full(len(drawn), count)
    valid = (values >= 0) & (values < count)  # NaN is neither
    return np.where(valid, np.where(valid, values, 0).astype(np.int64), count)


def _bits_at(drawn: Outputs, m: FrequencyOracle, laws: FiniteLaws) -> NDArray[np.int64]:
    """Read the number of the outcome from the bits of each report."""
    bits = np.stack([bit_of(drawn, m, place) for place in laws.bits])
    numbers = (bits * 2 ** np.arange(len(bits))[::-1, None]).sum(axis=0)
    return np.where((bits < 0).any(axis=0), len(laws.p), numbers)


def bit_of(drawn: Outputs, m: FrequencyOracle, place: int) -> NDArray[np.int64]:
    """Read the bit of each report at a place, however `draw_many` wrote it; −1 where the output is
    no report, or too long.
    """
    width = m.width
    # bits; what is supported is written before them, and says the same
    if width > 1 and (8 * width <= MOST_BITS or m.k <= MOST_SUPPORTED):
        column, shift = f"[{place}]", 0
    else:
        column, shift = ("" if width == 1 else f"[{place // 8}]"), 7 - place % 8
    values = drawn.numbers.get(column)
    # beyond the numbers looked at one by one
    if values is None and drawn.symbols.dtype.kind == "V" and drawn.symbols.dtype.itemsize == width:
        values = (
            np.ascontiguousarray(drawn.symbols)
            .view(np.uint8)
            .reshape(len(drawn), width)[:, place // 8]
            .astype(np.float64)
        )
    if values is None:
        return np.full(len(drawn), -1)
    finite = np.isfinite(values)
    return np.where(finite, (np.where(finite, values, 0).astype(np.int64) >> shift) & 1, -1)


_SAYS_ONLY = {
    "promises",
    "promise",
    "__module__",
    "__qualname__",
    "__doc__",
    "__slots__",
    "__init__",
    "__repr__",
    "__annotations__",
    "__orig_bases__",
}
_SAYS_ONLY |= {
    "__abstractmethods__",
    "_abc_impl",
    "__dict__",
    "__weakref__",
    "__firstlineno__",
    "__static_attributes__",
}


def draws_as_stated(kind: type) -> bool:
    """Whether a class, or what it derives from, states the law of its own draws: a subclass may
    change the promise at most. Callers may state the law of a class of theirs.
    """
    mro = kind.__mro__
    stated = next(i for i, base in enumerate(mro) if "output_laws" in vars(base))
    return all(
        set(vars(base)) <= _SAYS_ONLY
        for base in (mro if is_library_kind(mro[stated]) else mro[:stated])
        if base not in (object, ABC, Generic) and not is_library_kind(base)
    )
