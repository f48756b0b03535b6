"""Laws made of atoms that fit no common lattice, multiplied out: rounded once then, not once for
every use.

*Why*      An atom between nodes costs a lower bound in proportion to the spacing, for every use.
           The product of many uses has more atoms and is used once.
*How far*  Until it has 4096 atoms. A law whose atoms lie at equal distances has few more with each
           use, and is raised to its power by convolution; any other is multiplied use by use,
           losses that agree to rounding counted together. Products of different laws follow, the
           smallest first.
*Errors*   Relative ones add up, a few units in the last place for each product and one for each
           term of a sum; losses are off by what they were, and by the width within which they count
           as equal. Masses too small for products to stay in the doubles are left out, and said to
           be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .loss_lattice import FAINTEST
from .loss_laws import UNIT, Atoms, Doubles, Law, Points, binned

MOST = 1 << 12
_FEW = 64
_FIT = 2.0**-44  # of the largest loss: what is nearer than that counts as equal
_LARGEST = 500.0


def gathered(uses: Sequence[tuple[Law, int]]) -> Sequence[tuple[Law, int]]:
    """The same composition, of fewer laws with more atoms; the very same where all atoms fit one
    lattice, or none can be multiplied.
    """
    gaps = [np.diff(law.atoms.loss) for law, _ in uses if law.atoms.loss.size > 1]
    if not gaps or _fit(np.concatenate(gaps)):
        return uses
    kept = [(law, count) for law, count in uses if law.spread or law.atoms.loss.size < 2]
    if len(kept) == len(uses):
        return uses
    single: list[Points] = []
    for law, count in uses:
        if not law.spread and law.atoms.loss.size > 1:
            block, size = _power(_points(law), count)
            kept += [(block, count // size)] if count >= 2 * size else []
            single += [block] if size <= count < 2 * size else []
            single += [_power(_points(law), count % size)[0]] if count % size else []
    single.sort(key=_size)
    while (
        len(single) > 1
        and _size(single[0]) * _size(single[1]) <= MOST
        and _reach(single[0]) + _reach(single[1]) <= _LARGEST
    ):
        single = sorted([_product(single[0], single[1]), *single[2:]], key=_size)
    return (*kept, *((law, 1) for law in single))


def _fit(gaps: Doubles) -> bool:
    """Whether all are multiples of a 64th, or a simpler part, of the least."""
    near = _FIT * float(gaps.max())
    least = float(gaps.min())
    return least > near and any(
        np.abs(gaps - np.rint(gaps / (least / m)) * (least / m)).max() <= near * 64
        for m in range(1, _FEW + 1)
    )


def _size(law: Points) -> int:
    return int(law.points.loss.size)


def _reach(law: Points) -> float:
    return float(np.abs(law.points.loss).max(initial=0.0))


def _points(law: Law) -> Points:
    return Points(
        law.atoms, law.error, law.slack, law.only_p, law.only_q, law.symmetric, law.unseen, MOST
    )


def _power(law: Points, count: int) -> tuple[Points, int]:
    """As many uses as are multiplied out, and how many these are."""
    count = min(count, max(1, int(_LARGEST / max(_reach(law), 1e-300))))
    gaps = np.diff(law.points.loss)
    step = float(gaps.min(initial=np.inf))
    if _FIT * _reach(law) < step < np.inf and np.abs(
        gaps - np.rint(gaps / step) * step
    ).max() <= _FIT * _reach(law):
        return _convolved(law, step, count)
    found, size = law, 1
    while size < count and _size(found) * _size(law) <= MOST:
        found, size = _product(found, law), size + 1
    return found, size


def _convolved(law: Points, step: float, count: int) -> tuple[Points, int]:
    """The power of a law with atoms at equal distances."""
    first = float(law.points.loss[0])
    numbers = np.rint((law.points.loss - first) / step).astype(np.int64)
    count = max(1, min(count, (MOST - 1) // int(numbers[-1])))
    p, q = (binned(numbers, mass, int(numbers[-1]) + 1) for mass in (law.points.p, law.points.q))
    whole_p, whole_q = np.ones(1), np.ones(1)
    for bit in f"{count:b}":
        whole_p, whole_q = np.convolve(whole_p, whole_p), np.convolve(whole_q, whole_q)
        if bit == "1":
            whole_p, whole_q = np.convolve(whole_p, p), np.convolve(whole_q, q)
    off = float(np.abs(law.points.loss - first - step * numbers).max())
    loss: Doubles = count * first + step * np.arange(whole_p.size, dtype=np.float64)
    error = count * (law.error + 4 * UNIT) + 4 * UNIT * whole_p.size * (1 + count.bit_length())
    slack = count * (law.slack + off) + 16 * UNIT * count * (_reach(law) + step * numbers.size)
    return _made(loss, whole_p, whole_q, error, slack, law, count), count


def _product(one: Points, two: Points) -> Points:
    """Both, independently."""
    a, b = one.points, two.points
    loss = np.add.outer(a.loss, b.loss).ravel()
    order = np.argsort(loss, kind="stable")
    loss, p, q = (
        loss[order],
        np.multiply.outer(a.p, b.p).ravel()[order],
        np.multiply.outer(a.q, b.q).ravel()[order],
    )
    near = _FIT * (_reach(one) + _reach(two))
    group = np.cumsum(np.diff(loss, prepend=loss[0]) > near, dtype=np.int64)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(first[1:], loss.size)
    if first.size < loss.size and (loss[ends - 1] - loss[first]).max() <= 4 * near:
        p, q, loss = binned(group, p, first.size), binned(group, q, first.size), loss[first]
    error = one.error + two.error + (4 + int((ends - first).max())) * UNIT
    whole = Points(
        one.points, 0.0, 0.0, one.only_p, one.only_q, one.symmetric and two.symmetric, one.unseen
    )
    return _made(
        loss,
        p,
        q,
        error,
        one.slack + two.slack + 4 * near + 8 * UNIT * (_reach(one) + _reach(two)),
        whole,
        1,
        two,
    )


def _made(
    loss: Doubles,
    p: Doubles,
    q: Doubles,
    error: float,
    slack: float,
    law: Points,
    count: int,
    other: Points | None = None,
) -> Points:
    """The atoms that are large enough, and what is lost on the way: 1 − (1 − a)^k·(1 − b)."""

    def lost(each: float, more: float) -> float:
        return (
            float(
                -np.expm1(count * np.log1p(-min(each, 1 - UNIT)) + np.log1p(-min(more, 1 - UNIT)))
            )
            if each or more
            else 0.0
        )

    seen = (p >= FAINTEST) & (q >= FAINTEST)
    left = float(max(p[~seen].sum(), q[~seen].sum())) * 1.001 + 1e-280 if not seen.all() else 0.0
    unseen = 1.001 * (count * law.unseen + (other.unseen if other else 0.0)) + left
    only_p, only_q = (
        lost(law.only_p, other.only_p if other else 0.0),
        lost(law.only_q, other.only_q if other else 0.0),
    )
    return Points(
        Atoms(loss[seen], p[seen], q[seen]),
        error + 64 * UNIT,
        slack,
        only_p,
        only_q,
        law.symmetric,
        unseen,
        MOST,
    )
