"""Hierarchies of places: which combinations of state, county, tract, block exist.

*Public*   The list of places is public, like any key set: it comes from a public table, never from
           the protected data. Rows at other places are in no group.
*Keyed*    By name, a name below the first level lies in one place above it. By path, a place is
           the whole path: there may be a Washington in two states. A place that is not divided
           further has None at the levels below.
*Uneven*   Places may have any number of places below them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Literal, Protocol, cast

from ...errors import Refused
from ...exact.numbers import shown
from ..expr.column_names import unknown_column
from ..expr.types import Type
from . import declare_refusals as refusals
from .public_keys import Key, check_key

if TYPE_CHECKING:
    import pyarrow as pa

PlacePath = tuple[Key, ...]
Keyed = Literal["name", "path"]


class HasArrow(Protocol):
    """A frame of pandas, Polars or Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


PlaceTable = HasArrow | Mapping[str, object] | Iterable[Sequence[object]] | str | FilePath
"""A frame with a column for each level, its columns as a dictionary, places within places as a
dictionary, a list of paths, or a CSV or Parquet file.
"""


@dataclass(frozen=True, slots=True)
class PlaceHierarchy:
    """Levels of places from large to small, and the paths of all smallest places."""

    levels: tuple[str, ...]
    paths: tuple[PlacePath, ...]
    keyed_by: Keyed = "name"

    def names(self, level: str) -> tuple[Key, ...]:
        """Return the different names at a level, sorted, None last."""
        at = self.levels.index(level)
        return tuple(sorted({path[at] for path in self.paths}, key=_order))

    def project(self, levels: Sequence[str]) -> tuple[PlacePath, ...]:
        """Return the combinations of names at some levels that exist, sorted."""
        at = [self.levels.index(level) for level in levels]
        return _sorted_paths({tuple(path[i] for i in at) for path in self.paths})

    def down_to(self, level: str) -> PlaceHierarchy:
        """Return the hierarchy without the levels below this one."""
        count = self.levels.index(level) + 1
        paths = _sorted_paths({path[:count] for path in self.paths})
        return PlaceHierarchy(self.levels[:count], paths, self.keyed_by)

    def typed(self, types: Mapping[str, Type]) -> PlaceHierarchy:
        """Convert the names to the types of the columns, or refuse them."""
        paths = {
            tuple(
                check_key(level, name, types[level])
                for level, name in zip(self.levels, path, strict=True)
            )
            for path in self.paths
        }
        converted = replace(self, paths=_sorted_paths(paths))
        if len(paths) < len(self.paths):
            raise refusals.PLACES_ALIKE(levels=", ".join(self.levels))
        _check_parents(converted)
        return converted

    @property
    def text(self) -> str:
        """The levels with the number of places at each."""
        counts = (
            f"{len({path[: i + 1] for path in self.paths}):,} {level}"
            for i, level in enumerate(self.levels)
        )
        return " › ".join(counts)

    def __repr__(self) -> str:
        return f"PlaceHierarchy({self.text})"


def hierarchy(*levels: str, places: PlaceTable, keyed_by: Keyed = "name") -> PlaceHierarchy:
    """Declare which places exist, from a public table of places.

    >>> sf.hierarchy("state", "county", places={"A": ["A1", "A2"], "B": ["B1"]})
    PlaceHierarchy(2 state › 3 county)
    """
    if not levels or not all(isinstance(level, str) and level for level in levels):
        raise refusals.LEVELS_NOT_NAMES(levels=levels)
    if len(set(levels)) < len(levels):
        raise refusals.LEVEL_TWICE(levels=", ".join(levels))
    if keyed_by not in ("name", "path"):
        raise refusals.KEYED_BY_UNKNOWN(keyed_by=keyed_by)
    paths = _read_places(places, levels)
    if not paths:
        raise refusals.NO_PLACES(levels=", ".join(levels))
    try:
        different = set(paths)
    except TypeError:  # a name that is a list
        raise refusals.PLACES_UNREADABLE(kind=type(places).__name__) from None
    built = PlaceHierarchy(levels, _sorted_paths(different), keyed_by)
    _check_parents(built)
    return built


ColumnNames = str | tuple[str, ...]
KeysOrPlaces = Iterable[object] | PlaceHierarchy | PlaceTable
DeclaredKeys = (
    PlaceHierarchy
    | Mapping[str, Iterable[object]]
    | Mapping[tuple[str, ...], PlaceHierarchy | PlaceTable]
    | Mapping[ColumnNames, KeysOrPlaces]
)
"""The public keys of columns by name; those of several columns together under a tuple of names."""


def split_keys(keys: object) -> tuple[Mapping[str, Iterable[object]] | None, list[PlaceHierarchy]]:
    """Separate the keys of single columns from the hierarchies of several."""
    if isinstance(keys, PlaceHierarchy):
        return None, [keys]
    if not isinstance(keys, Mapping) or not any(isinstance(name, tuple) for name in keys):
        return cast("Mapping[str, Iterable[object]] | None", keys), []
    single = {name: values for name, values in keys.items() if not isinstance(name, tuple)}
    return single, [
        _matching(levels, places)
        if isinstance(places, PlaceHierarchy)
        else hierarchy(*levels, places=places)
        for levels, places in keys.items()
        if isinstance(levels, tuple)
    ]


def _matching(levels: tuple[str, ...], declared: PlaceHierarchy) -> PlaceHierarchy:
    if levels != declared.levels:
        raise refusals.LEVELS_DIFFER(
            levels=", ".join(map(str, levels)), others=", ".join(declared.levels)
        )
    return declared


def check_hierarchies(
    hierarchies: Sequence[PlaceHierarchy],
    types: Mapping[str, Type],
    keys: Mapping[str, object],
    left_out: Mapping[str, str],
) -> tuple[PlaceHierarchy, ...]:
    """Convert the names of places to the types of the columns; a column has keys once."""
    listed = set(keys)
    for each in hierarchies:
        for level in each.levels:
            if level not in types:
                raise unknown_column(level, list(types), left_out, "keys")
            if level in listed:
                raise refusals.KEYS_TWICE(column=level)
            listed.add(level)
    return tuple(each.typed(types) for each in hierarchies)


def _check_parents(built: PlaceHierarchy) -> None:
    """Refuse a name that lies in two places, unless places are keyed by path."""
    if built.keyed_by == "path":
        return
    for i, level in enumerate(built.levels[1:], 1):
        parents: dict[Key, PlacePath] = {}
        for path in built.paths:
            above = parents.setdefault(path[i], path[:i])
            if path[i] is not None and above != path[:i]:
                raise refusals.PLACE_IN_TWO(
                    level=level,
                    name=shown(path[i]),
                    first=" › ".join(map(str, above)),
                    second=" › ".join(map(str, path[:i])),
                )


def _read_places(places: object, levels: tuple[str, ...]) -> list[PlacePath]:
    if isinstance(places, str | FilePath):
        path = FilePath(places)
        try:
            table = _read_file(path)
        except (OSError, ArithmeticError, ValueError) as error:
            if isinstance(error, Refused):
                raise
            raise refusals.PLACES_UNREADABLE(kind=f"{path.name}, which is no such file") from None
        return _of_frame(table, levels)
    if isinstance(places, Mapping):
        if set(levels) <= set(places):
            columns = [list(cast("Iterable[Key]", places[level])) for level in levels]
            if len(set(map(len, columns))) > 1:
                raise refusals.PLACES_UNREADABLE(kind="columns of different lengths")
            return list(zip(*columns, strict=True))
        return list(_of_tree(places, len(levels)))
    if hasattr(places, "__arrow_c_stream__"):
        import pyarrow as pa

        return _of_frame(pa.table(places), levels)
    if not isinstance(places, Iterable):
        raise refusals.PLACES_UNREADABLE(kind=type(places).__name__)
    paths = [
        tuple(path) if isinstance(path, Sequence) and not isinstance(path, str) else (path,)
        for path in places
    ]
    if any(len(path) != len(levels) for path in paths):
        raise refusals.PLACES_UNREADABLE(kind=f"paths without {len(levels)} names each")
    return paths


def _read_file(path: FilePath) -> pa.Table:
    """Read a file of places. Columns of a CSV file are text: 007 is not 7."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_table(path)
    if path.suffix != ".csv":
        raise refusals.PLACES_UNREADABLE(kind=f"{path.name or path}, neither .csv nor .parquet")
    import pyarrow as pa
    from pyarrow import csv

    with path.open(encoding="utf-8") as lines:
        names = [name.strip().strip('"') for name in lines.readline().split(",")]
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True
    )
    return csv.read_csv(path, convert_options=options)


def _of_frame(table: pa.Table, levels: tuple[str, ...]) -> list[PlacePath]:
    for level in levels:
        if level not in table.column_names:
            raise refusals.LEVEL_NOT_A_COLUMN(level=level, columns=", ".join(table.column_names))
    return list(zip(*(table.column(level).to_pylist() for level in levels), strict=True))


def _of_tree(tree: object, depth: int) -> Iterable[PlacePath]:
    """Yield the paths of places within places; a place without any has None below it."""
    if depth == 1:
        if isinstance(tree, str) or not isinstance(tree, Iterable):
            raise refusals.PLACES_UNREADABLE(kind=type(tree).__name__)
        yield from ((name,) for name in tree)
        return
    if not isinstance(tree, Mapping):
        raise refusals.PLACES_UNREADABLE(kind=type(tree).__name__)
    for name, below in tree.items():
        if not below:
            yield (name, *[None] * (depth - 1))
            continue
        yield from ((name, *path) for path in _of_tree(below, depth - 1))


def _sorted_paths(paths: Iterable[PlacePath]) -> tuple[PlacePath, ...]:
    try:
        return tuple(sorted(paths, key=lambda path: tuple(map(_order, path))))
    except TypeError:
        raise refusals.PLACES_UNREADABLE(kind="names of different types at one level") from None


def _order(name: Key) -> tuple[bool, Key]:
    return (name is None, 0 if name is None else name)
