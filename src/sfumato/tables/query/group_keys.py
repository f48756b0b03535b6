"""Which keys of GROUP BY are public, where they come from, and in how many groups a unit can be.

*Public*    Keys that the owner declares, that the question lists, or that follow from the question:
            IN lists, the results of a CASE, truth values, parts of dates, bins between two ends.
            Every group of public keys has an answer, empty ones too.
*Size*      Groups that nobody listed are public while the answer has at most `MOST_VALUES` groups:
            beyond, most of an answer would be noise about empty groups, and the larger groups are
            found better by private selection.
*Limit*     A unit is in at most as many groups as there are public keys. Keys that have one value
            for each unit do not multiply its groups. Weights enforce the limit whatever the data
            are: a unit in more groups counts for less in each (docs/proofs/tables.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..declare.declaration import Key
from ..expr.expressions import col
from ..expr.types import Type
from ..expr.value_sets import MOST_VALUES
from .column_facts import ColumnFacts

if TYPE_CHECKING:
    from .stages import Query

FEW = 12  # keys that a sentence names


@dataclass(frozen=True, slots=True)
class GroupLimit:
    """In how many groups a unit counts at most, and why; `is_declared` if the owner's limit or a
    learned one decides.
    """

    count: int
    why: str
    is_declared: bool


def public_keys(
    facts: ColumnFacts,
    names: Iterable[str],
    schema: Mapping[str, Type],
    listed: Mapping[str, tuple[Key, ...]],
) -> tuple[tuple[Key, ...], ...]:
    """Return the public keys of each column, () where they are private. `listed` has the keys that
    the question lists itself.
    """
    domains = {name: listed.get(name) or facts.keys(col(name), schema[name]) for name in names}
    spelled_out = [
        name for name in domains if name not in listed and not facts.values(col(name)).is_written
    ]
    if math.prod(len(domain) for domain in domains.values() if domain) > MOST_VALUES:
        domains |= dict.fromkeys(spelled_out, ())
    return tuple(domains.values())


@dataclass(frozen=True, slots=True)
class Combination:
    """Keys of a query that are levels of one hierarchy, and their combinations that exist."""

    places: tuple[int, ...]  # among the keys of the query
    paths: tuple[tuple[Key, ...], ...]


def combinations(
    facts: ColumnFacts, names: tuple[str, ...], domains: tuple[tuple[Key, ...], ...]
) -> tuple[Combination, ...]:
    """Return the combinations of public keys that hierarchies allow, where two keys or more are
    levels of the same one.
    """
    originals = {name: facts.original(name) for name in names} if facts.hierarchies else {}
    allowed = []
    for hierarchy in facts.hierarchies:
        at = tuple(
            i
            for i, (name, domain) in enumerate(zip(names, domains, strict=True))
            if domain and originals[name] in hierarchy.levels
        )
        levels = [level for i in at if (level := originals[names[i]]) is not None]
        if len(set(levels)) < 2:
            continue
        public = [set(domains[i]) for i in at]
        paths = tuple(
            path
            for path in hierarchy.project(levels)
            if all(key in keys for key, keys in zip(path, public, strict=True))
        )
        allowed.append(Combination(at, paths))
    return tuple(allowed)


def count_groups(query: Query, among: Iterable[str] | None = None) -> int:
    """Return the number of groups by the public keys of a query; of some of them with `among`."""
    names = set(query.keys if among is None else among)
    at = [i for i, name in enumerate(query.keys) if name in names and query.domains[i]]
    count = 1
    for each in query.combinations:
        inside = [n for n, i in enumerate(each.places) if i in at]
        if inside:
            count *= len({tuple(path[n] for n in inside) for path in each.paths})
            at = [i for i in at if i not in each.places]
    return count * math.prod(len(query.domains[i]) for i in at)


def group_limit(query: Query) -> GroupLimit | None:
    """Return the most groups of a unit; None if that depends on limits that are yet to be learned,
    or if there are no units.
    """
    declared, facts = query.rows.declaration, query.rows.facts
    unit = declared.unit_name
    if not declared.unit:
        return None
    if query.rows.once:
        return GroupLimit(1, f"each {unit} has one row", False)
    free = [
        (name, domain)
        for name, domain in zip(query.keys, query.domains, strict=True)
        if not facts.is_fixed(col(name))
    ]
    stated = declared.max_groups or declared.max_rows
    if not free:
        keys = " and ".join(query.keys)
        return GroupLimit(1, f"each {unit} has one {keys}" if keys else "there is one group", False)
    listed = all(domain for _, domain in free)
    cells = count_groups(query, [name for name, _ in free]) if listed else None
    if cells is not None and (stated is None or cells < stated):
        keys = " and ".join(name for name, _ in free)
        have = "has" if len(free) == 1 else "have together"
        public = "1 public key" if cells == 1 else f"{cells} public keys"
        return GroupLimit(cells, f"{keys} {have} {public}", False)
    if stated is None:
        return None
    return GroupLimit(stated, "max_groups" if declared.max_groups else "max_rows", True)
