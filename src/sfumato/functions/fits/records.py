"""Data of a fit as columns of doubles: clipped to public intervals by a rule for every value, so that whatever the data are there is a fit.

A record is a row: of an array, a list of tuples, a pandas or Polars frame. NaN counts as the lower end of its interval.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import Refused
from ...exact.numbers import Number, positive
from ..lattice import Lattice, known_bounds
from ..polynomial import Floats

Ends = tuple[Fraction, Fraction]


def rows(data: Any, columns: int) -> Floats:
    """The records, one row each, with at least this many columns."""
    found = np.asarray(data, dtype=np.float64)
    return found.reshape(-1, columns)


def clipped(values: Floats, ends: Ends) -> Floats:
    """Values within their interval."""
    low, high = float(ends[0]), float(ends[1])
    return np.asarray(np.clip(np.nan_to_num(values, nan=low, posinf=high, neginf=low), low, high))


def known_records(records: Any) -> int | None:
    """A public number of records."""
    if records is None or (isinstance(records, int | np.integer) and not isinstance(records, bool) and 1 <= records <= 2**30):
        return None if records is None else int(records)
    raise Refused("fit.records", f"records={records!r:.60}", "the number of records is public: a whole number from 1 on", "records=500")


def known_ends(pair: Any) -> Ends:
    """A public interval."""
    return known_bounds(pair, 1)[0]


def box_of(inputs: Any) -> tuple[Ends, ...]:
    """A public interval for each coordinate of a record."""
    return known_bounds(inputs, None)


def known_width(value: Number, name: str) -> Fraction:
    return positive(value, name)


def inside(lattice: Lattice, box: tuple[Ends, ...]) -> None:
    """The lattice and the fit are about the same number of coordinates."""
    if lattice.dimensions != len(box):
        place = f"a lattice in {lattice.dimensions} dimensions"
        raise Refused("fit.inputs", place, f"the fit is about {len(box)}", "bounds= and inputs= with as many pairs")


def declared(records: int | None, name: str) -> int:
    """The number of records, where the sensitivity depends on it."""
    if records is None:
        raise Refused("fit.records", f"{name}(…)", "its sensitivity depends on the number of records, which has to be public", f"{name}(…, records=500)")
    return records


def only_replace(relation: str | None, name: str) -> None:
    if relation not in (None, "replace"):
        reason = "it divides by the number of records, which under add-remove is not public"
        raise Refused("fit.relation", f"{name} under {relation}", reason, "relation='replace'")
