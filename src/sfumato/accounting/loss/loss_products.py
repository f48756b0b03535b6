"""Products of laws whose atoms fit no common lattice: the product is rounded to a lattice once, not
once for every use.

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
from .loss_laws import UNIT, Atoms, Doubles, Law, PointLaw, sum_by_bin

MOST = 1 << 12
_FEW = 64
_FIT = 2.0**-44  # of the largest loss: losses nearer than that count as equal
_LARGEST = 500.0


def multiply_out(uses: Sequence[tuple[Law, int]]) -> Sequence[tuple[Law, int]]:
    """Return the same composition with fewer laws and more atoms; the argument itself if all atoms
    fit one lattice or no laws can be multiplied.
    """
    gaps = [np.diff(law.atoms.loss) for law, _ in uses if law.atoms.loss.size > 1]
    if not gaps or _fit(np.concatenate(gaps)):
        return uses
    gathered_uses = [(law, count) for law, count in uses if law.spread or law.atoms.loss.size < 2]
    if len(gathered_uses) == len(uses):
        return uses
    single: list[PointLaw] = []
    for law, count in uses:
        if not law.spread and law.atoms.loss.size > 1:
            block, size = _power(_points(law), count)
            gathered_uses += [(block, count // size)] if count >= 2 * size else []
            single += [block] if size <= count < 2 * size else []
            single += [_power(_points(law), count % size)[0]] if count % size else []
    single.sort(key=_size)
    while (
        len(single) > 1
        and _size(single[0]) * _size(single[1]) <= MOST
        and _reach(single[0]) + _reach(single[1]) <= _LARGEST
    ):
        single = sorted([_product(single[0], single[1]), *single[2:]], key=_size)
    return (*gathered_uses, *((law, 1) for law in single))


def _fit(gaps: Doubles) -> bool:
    """Whether all gaps are multiples of 1/m of the least gap, for some m up to 64."""
    near = _FIT * float(gaps.max())
    least = float(gaps.min())
    return least > near and any(
        np.abs(gaps - np.rint(gaps / (least / m)) * (least / m)).max() <= near * 64
        for m in range(1, _FEW + 1)
    )


def _size(law: PointLaw) -> int:
    return int(law.points.loss.size)


def _reach(law: PointLaw) -> float:
    return float(np.abs(law.points.loss).max(initial=0.0))


def _points(law: Law) -> PointLaw:
    return PointLaw(
        law.atoms, law.error, law.slack, law.only_p, law.only_q, law.symmetric, law.unseen, MOST
    )


def _power(law: PointLaw, count: int) -> tuple[PointLaw, int]:
    """Multiply out as many uses of a law as allowed; return the product and their number."""
    count = min(count, max(1, int(_LARGEST / max(_reach(law), 1e-300))))
    gaps = np.diff(law.points.loss)
    step = float(gaps.min(initial=np.inf))
    if _FIT * _reach(law) < step < np.inf and np.abs(
        gaps - np.rint(gaps / step) * step
    ).max() <= _FIT * _reach(law):
        return _convolve(law, step, count)
    product, size = law, 1
    while size < count and _size(product) * _size(law) <= MOST:
        product, size = _product(product, law), size + 1
    return product, size


def _convolve(law: PointLaw, step: float, count: int) -> tuple[PointLaw, int]:
    """Return a power of a law with atoms at equal distances, by convolution."""
    first = float(law.points.loss[0])
    numbers = np.rint((law.points.loss - first) / step).astype(np.int64)
    count = max(1, min(count, (MOST - 1) // int(numbers[-1])))
    p, q = (
        sum_by_bin(numbers, mass, int(numbers[-1]) + 1) for mass in (law.points.p, law.points.q)
    )
    power_p, power_q = np.ones(1), np.ones(1)
    for bit in f"{count:b}":
        power_p, power_q = np.convolve(power_p, power_p), np.convolve(power_q, power_q)
        if bit == "1":
            power_p, power_q = np.convolve(power_p, p), np.convolve(power_q, q)
    off = float(np.abs(law.points.loss - first - step * numbers).max())
    loss: Doubles = count * first + step * np.arange(power_p.size, dtype=np.float64)
    error = count * (law.error + 4 * UNIT) + 4 * UNIT * power_p.size * (1 + count.bit_length())
    slack = count * (law.slack + off) + 16 * UNIT * count * (_reach(law) + step * numbers.size)
    return _without_faint_atoms(loss, power_p, power_q, error, slack, law, count), count


def _product(first_law: PointLaw, second_law: PointLaw) -> PointLaw:
    """Return the law of the sum of two independent losses."""
    a, b = first_law.points, second_law.points
    loss = np.add.outer(a.loss, b.loss).ravel()
    order = np.argsort(loss, kind="stable")
    loss = loss[order]
    p = np.multiply.outer(a.p, b.p).ravel()[order]
    q = np.multiply.outer(a.q, b.q).ravel()[order]
    near = _FIT * (_reach(first_law) + _reach(second_law))
    group = np.cumsum(np.diff(loss, prepend=loss[0]) > near, dtype=np.int64)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(first[1:], loss.size)
    if first.size < loss.size and (loss[ends - 1] - loss[first]).max() <= 4 * near:
        p, q, loss = sum_by_bin(group, p, first.size), sum_by_bin(group, q, first.size), loss[first]
    error = first_law.error + second_law.error + (4 + int((ends - first).max())) * UNIT
    template = PointLaw(
        first_law.points,
        0.0,
        0.0,
        first_law.only_p,
        first_law.only_q,
        first_law.symmetric and second_law.symmetric,
        first_law.unseen,
    )
    return _without_faint_atoms(
        loss,
        p,
        q,
        error,
        first_law.slack
        + second_law.slack
        + 4 * near
        + 8 * UNIT * (_reach(first_law) + _reach(second_law)),
        template,
        1,
        second_law,
    )


def _without_faint_atoms(
    loss: Doubles,
    p: Doubles,
    q: Doubles,
    error: float,
    slack: float,
    law: PointLaw,
    count: int,
    second: PointLaw | None = None,
) -> PointLaw:
    """Drop atoms too small for doubles, and compute infinite losses as 1 − (1 − a)^k·(1 − b)."""

    def lost(each: float, more: float) -> float:
        return (
            float(
                -np.expm1(count * np.log1p(-min(each, 1 - UNIT)) + np.log1p(-min(more, 1 - UNIT)))
            )
            if each or more
            else 0.0
        )

    large = (p >= FAINTEST) & (q >= FAINTEST)
    left = float(max(p[~large].sum(), q[~large].sum())) * 1.001 + 1e-280 if not large.all() else 0.0
    unseen = 1.001 * (count * law.unseen + (second.unseen if second else 0.0)) + left
    only_p = lost(law.only_p, second.only_p if second else 0.0)
    only_q = lost(law.only_q, second.only_q if second else 0.0)
    return PointLaw(
        Atoms(loss[large], p[large], q[large]),
        error + 64 * UNIT,
        slack,
        only_p,
        only_q,
        law.symmetric,
        unseen,
        MOST,
    )
