"""Read CUBE, ROLLUP and GROUPING SETS of a GROUP BY, and GROUPING of a SELECT.

*Sets*      become the groupings of the query, over the expressions of the keys; WITH ROLLUP and
            WITH CUBE, too. Keys beside them are in every grouping.
*GROUPING*  of keys is the number whose binary digits say which of them a row rolls up, as in
            standard SQL. It is a key of the answer: it depends on no data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from ...tables.query.groupings import Groupings, cube, grouping_sets, rollup
from ..sql_text import Node, without_brackets

KINDS = ("cube", "rollup", "grouping_sets")
"""The arguments of a GROUP BY that ask for several groupings."""

TextOf = Callable[[Node], str]
"""Returns the text of the expression of a key."""


def has_sets(clause: exp.Group) -> bool:
    """Tell whether a GROUP BY asks for several groupings."""
    return any(clause.args.get(kind) for kind in KINDS)


def key_nodes(clause: exp.Group) -> list[Node]:
    """Return the nodes of all keys, with those inside CUBE, ROLLUP and GROUPING SETS."""
    parts = [*clause.expressions, *(part for kind in KINDS for part in clause.args.get(kind) or ())]
    return [node for part in parts for node in _nodes_in(part)]


def read_sets(clause: exp.Group, text_of: TextOf) -> list[str | Groupings]:
    """Return the parts of a GROUP BY: texts of keys, and groupings of such texts."""
    plain = [text_of(node) for part in clause.expressions for node in _nodes_in(part)]
    if any(not part.expressions for kind in KINDS for part in clause.args.get(kind) or ()):
        return [(cube if clause.args.get("cube") else rollup)(*plain)]
    return [
        *plain,
        *(_read_set(part, text_of) for kind in KINDS for part in clause.args.get(kind) or ()),
    ]


def rename(part: str | Groupings, names: Callable[[str], str]) -> str | Groupings:
    """Replace the texts of keys by the names of their columns."""
    if isinstance(part, str):
        return names(part)
    return Groupings(tuple(tuple(map(names, listed)) for listed in part.sets))


def grouping_keys(node: Node) -> list[Node] | None:
    """Return the keys that GROUPING or GROUPING_ID names; None if the node is neither."""
    if isinstance(node, exp.Grouping | exp.GroupingId):
        return list(node.expressions)
    return None


def _read_set(part: Node, text_of: TextOf) -> Groupings:
    listed = [tuple(map(text_of, _nodes_in(each))) for each in part.expressions]
    if isinstance(part, exp.Cube):
        return cube(*listed)
    if isinstance(part, exp.Rollup):
        return rollup(*listed)
    inner = [
        _read_set(each, text_of).sets
        if isinstance(each, exp.Cube | exp.Rollup | exp.GroupingSets)
        else (texts,)
        for each, texts in zip(part.expressions, listed, strict=True)
    ]
    return grouping_sets(*(texts for sets in inner for texts in sets))


def _nodes_in(part: Node) -> Iterable[Node]:
    """Return the keys inside a part of GROUP BY."""
    bare = without_brackets(part)
    if isinstance(bare, exp.Tuple | exp.Cube | exp.Rollup | exp.GroupingSets):
        return [node for each in bare.expressions for node in _nodes_in(each)]
    return [bare]
