"""Reconcile noisy tables by weighted least squares, in closed form, and round them so that they add
up.

*Estimate*  The part A of the estimate is the average of the parts A of all measured tables with
            A ⊆ B, by their precisions (`parts`). A table is the sum of its parts. That is the best
            linear unbiased estimate from the noisy numbers, and all tables agree.
*Rounding*  A table by d keys is rounded by its running totals along all keys at once: round these,
            and take the differences. The totals of a table along one key are running totals of the
            table without that key, so every rounded table adds up to the others exactly. A cell
            moves by at most 2^(d−1) steps.
*Whole*     The grid of the estimates is so fine that rounding to it does not matter. Whole numbers
            are made in the same way, on a grid of 1.
*Proof*     docs/proofs/marginals.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ...exact.exact_ratios import Integers
from .parts import Domain, Keys, Reconciliation, subsets

Doubles = NDArray[np.float64]
_WIDE = 2.0**61


def reconcile(
    noisy: Mapping[Keys, NDArray[np.generic]], by: Reconciliation, requested: Iterable[Keys]
) -> dict[Keys, Doubles]:
    """Estimate tables from noisy ones. A table is an array with an axis for each of its keys."""
    domain, sums = by.domain, dict[Keys, Doubles]()
    for keys, table in noisy.items():
        precision = float(by.precisions[keys])
        for part, centred in split_parts(np.array(table, dtype=np.float64), keys).items():
            np.multiply(centred, precision / domain.beyond(keys, part), out=centred)
            if part in sums:
                sums[part] += centred
            else:
                sums[part] = centred
    for part in sums:
        sums[part] /= float(by.precision_of(part))
    return {keys: add_parts(sums, domain, keys) for keys in requested}


def split_parts(table: Doubles, keys: Keys) -> dict[Keys, Doubles]:
    """Split a table into parts: summed over the keys they lack, and centred along their own."""
    parts: dict[Keys, Doubles] = {(): table}
    for key in keys:
        split: dict[Keys, Doubles] = {}
        for part, values in parts.items():
            axis = len(part)  # the keys decided before come first
            total = np.asarray(values.sum(axis=axis))
            split[part] = total
            split[(*part, key)] = values - np.expand_dims(total / values.shape[axis], axis)
        parts = split
    return parts


def add_parts(parts: Mapping[Keys, Doubles], domain: Domain, keys: Keys) -> Doubles:
    """Return the table by these keys: the sum of its parts, spread evenly. Parts are added key by
    key, so that large arrays are passed over few times.
    """
    shape = domain.shape(keys)
    table = np.array(parts[keys], dtype=np.float64).reshape(shape)
    small = [part for part in subsets(keys) if part != keys]
    if not small:
        return table
    last = keys[-1]
    # everything that does not vary along the last key first: it is smaller by that key's size
    even = np.zeros(shape[:-1])
    for part in small:
        spread = [domain.sizes[key] if key in part else 1 for key in keys]
        values = parts[part].reshape(spread) / domain.beyond(keys, part)
        if last in part:
            table += values
        else:
            even += values[..., 0]
    table += even[..., None]
    return table


def round_together(tables: Mapping[Keys, Doubles], step: float = 1.0) -> dict[Keys, Integers]:
    """Round tables to multiples of a step so that every table adds up to the others. With a table,
    all tables by some of its keys have to be there.
    """
    rounded: dict[Keys, Integers] = {}
    running: dict[Keys, Doubles] = {}
    for keys in sorted(tables, key=len):
        totals = np.asarray(tables[keys] / step)
        for axis in range(len(keys)):
            np.cumsum(totals, axis=axis, out=totals)
        np.rint(totals, out=totals)
        for axis, key in enumerate(keys):
            end = [slice(None)] * len(keys)
            end[axis] = slice(-1, None)
            rest = tuple(each for each in keys if each != key)
            totals[tuple(end)] = np.expand_dims(running[rest], axis)
        running[keys] = totals
        rounded[keys] = _differences(_to_integers(totals))
    return rounded


def _to_integers(numbers: Doubles) -> Integers:
    """Return whole doubles as integers: Python's where 64 bits do not hold them."""
    if np.abs(numbers).max(initial=0.0) < _WIDE:
        return numbers.astype(np.int64)
    return np.asarray(np.frompyfunc(int, 1, 1)(numbers), dtype=object)


def _differences(totals: Integers) -> Integers:
    """Return the table with these running totals."""
    for axis in range(totals.ndim):
        after = [slice(None)] * totals.ndim
        before = list(after)
        after[axis], before[axis] = slice(1, None), slice(None, -1)
        totals[tuple(after)] -= totals[tuple(before)].copy()
    return totals
