"""Public categories by name, and the codes of values: their places in the list of categories."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import mechanism_refusals as refusals

MOST = 1 << 24
MOST_SHOWN = 8
"""The most categories or edges that a record shows."""


@dataclass(frozen=True, slots=True, repr=False)
class Labels:
    """Different hashable names, in an order."""

    names: tuple[Hashable, ...]
    # the names as an array that gives them back unchanged
    array: NDArray[np.generic] = field(repr=False, compare=False)
    _places: dict[object, int] = field(repr=False, compare=False)

    def __init__(self, names: Iterable[Hashable], *, least: int = 1) -> None:
        categories = tuple(names)
        try:
            places = {name: place for place, name in enumerate(categories)}
        except TypeError:
            raise refusals.CATEGORY_NOT_HASHABLE() from None
        if not least <= len(categories) == len(places) <= MOST or any(
            name != name for name in categories
        ):
            raise refusals.CATEGORIES_NOT_DISTINCT(categories=len(categories), least=least)
        put = object.__setattr__
        put(self, "names", categories)
        put(self, "array", _array(categories))
        put(self, "_places", places)

    def __len__(self) -> int:
        return len(self.names)

    def cell_name(self, place: int) -> str:
        """A category as text."""
        return str(self.names[place])

    def __repr__(self) -> str:
        if len(self) <= MOST_SHOWN:
            return f"Labels(names={self.names!r})"
        return f"Labels({self.names[0]!r}, …, {self.names[-1]!r}: {len(self)} names)"

    def is_single_value(self, value: object) -> bool:
        """Whether this is a single value and not a collection: a category, or any other text or
        number.
        """
        if isinstance(value, np.ndarray):
            return value.ndim == 0
        try:
            return (
                value in self._places
                or not isinstance(value, Iterable)
                or isinstance(value, str | bytes)
            )
        except TypeError:
            return False

    def index(self, value: object) -> int:
        """The place of one category."""
        try:
            return self._places[
                value.item() if isinstance(value, np.ndarray | np.generic) else value
            ]
        except (KeyError, TypeError):
            raise refusals.NOT_A_CATEGORY() from None

    def codes(self, values: Iterable[object], *, drop: bool = False) -> NDArray[np.int64]:
        """The place of each value. A value that is no category is refused; with `drop` it gets
        −1.
        """
        if (
            isinstance(values, np.ndarray)
            and values.dtype.kind == self.array.dtype.kind
            and values.dtype.kind in "biuU"
        ):
            order = np.argsort(self.array)
            nearest = order[
                np.minimum(np.searchsorted(self.array, values, sorter=order), len(order) - 1)
            ]
            codes = np.where(self.array[nearest] == values, nearest, -1)
        else:
            listed = values.ravel().tolist() if isinstance(values, np.ndarray) else list(values)
            shape = values.shape if isinstance(values, np.ndarray) else (len(listed),)
            codes = np.array([self._place(value) for value in listed], dtype=np.int64).reshape(
                shape
            )
        if not drop and (codes < 0).any():
            raise refusals.NOT_A_CATEGORY()
        return codes

    def _place(self, value: object) -> int:
        try:
            return self._places.get(value, -1)
        except TypeError:  # nothing that cannot be hashed is a category
            return -1


def is_same(a: object, b: object) -> bool:
    """Whether two values are equal; an array is equal to nothing."""
    try:
        return bool(a == b)
    except ValueError:
        return False


def _array(names: tuple[Hashable, ...]) -> NDArray[np.generic]:
    kinds = {type(name) for name in names}
    integers = (name for name in names if isinstance(name, int))
    if (
        kinds <= {str}
        or kinds == {bool}
        or (kinds == {int} and all(-(2**63) <= name < 2**63 for name in integers))
    ):
        array: NDArray[np.generic] = np.array(names)
        if array.tolist() == list(names):  # text that ends in a zero byte would come back shorter
            return array
    return np.fromiter(names, dtype=object, count=len(names))
