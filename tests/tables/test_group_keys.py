"""Public keys of a question, and in how many groups a unit counts: no neighbour moves the integers
by more than declared, for all small tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.guarantees import Approx, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col, when
from sfumato.tables.expr.types import Type
from sfumato.tables.expr.value_sets import MOST_VALUES
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.query_plan import plan
from sfumato.tables.query import group_keys
from sfumato.tables.query.group_keys import GroupLimit, group_limit
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.stages import Query, Rows
from sfumato.testing.exact_checks import Rehearsal

from .replay import moved
from .worlds import Nobody, Swap

SCHEMA = pa.schema(
    [("user", pa.int64()), ("country", pa.string()), ("product", pa.string()), ("n", pa.int64())]
)
TYPES = {
    "user": Type.of("int64"),
    "country": Type.of("string"),
    "product": Type.of("string"),
    "n": Type.of("int64"),
}


def rows(**about: Any) -> Rows:
    declared = declare(
        name="world",
        schema=TYPES,
        **{"unit": "user", "max_rows": 3} | about,  # type: ignore[arg-type]  # of one type
    )
    return Rows.of(declared, Nobody())


def limit(query: Query) -> int:
    result_found = group_limit(query)
    assert result_found is not None
    assert Bounding.of(query, "L1").groups == result_found.count
    return result_found.count


IN = col("product").is_in(["a", "b"])


def test_a_unit_is_in_no_more_groups_than_there_are() -> None:
    query = rows(max_rows=20).where(IN).group_by("product").aggregate(n=ag.count())
    assert group_limit(query) == GroupLimit(2, "product has 2 public keys", False)
    assert limit(query) == 2
    both_keys = rows(max_rows=20).where(IN & col("n").between(0, 3)).group_by("product", "n")
    assert limit(both_keys.aggregate(m=ag.count())) == 8
    few = rows(max_rows=20, max_groups=5).where(IN & col("n").between(0, 3))
    assert limit(few.group_by("product", "n").aggregate(m=ag.count())) == 5
    private = rows(max_rows=20).where(IN).group_by("product", "country").aggregate(n=ag.count())
    assert group_limit(private) == GroupLimit(20, "max_rows", True)


def test_keys_of_a_table_with_one_row_for_each_unit_are_one_group() -> None:
    assert limit(rows(max_rows=1).group_by("country").aggregate(n=ag.count())) == 1
    one_row = rows().per_unit({}, {"n": Total("count")})
    assert limit(one_row.group_by("n").aggregate(m=ag.count())) == 1
    keyed = rows().per_unit({"part": col("user") % 2, "product": col("product")}, {})
    assert limit(keyed.group_by("part").aggregate(m=ag.count())) == 1
    assert limit(keyed.group_by("product").aggregate(m=ag.count())) == 3
    by_unit = rows().mutate(part=col("user") % 10).group_by("part").aggregate(n=ag.count())
    assert limit(by_unit) == 1


def test_a_large_answer_selects_its_groups() -> None:
    many = rows(keys={"country": [str(i) for i in range(600)]})
    twelve = many.mutate(m=col("n") % 12)
    assert twelve.group_by("m").domains[0][:2] == (0, 1)
    assert twelve.group_by("country", "m").domains == (many.public_keys("country"), ())
    banded = many.mutate(
        band=when(col("n") > 3, "high").when(col("n") > 1, "low").otherwise("none")
    )
    names = banded.group_by("country", "band").domains  # written in the question: public
    assert [len(domain) for domain in names] == [600, 3]
    assert len(rows().where(col("n").between(1, MOST_VALUES)).group_by("n").domains[0]) == 1000
    assert rows().where(col("n").between(0, MOST_VALUES)).group_by("n").domains == ((),)


def test_keys_that_the_question_lists_itself_are_these() -> None:
    query = rows(keys={"product": ["a", "b", "c"]}).where(col("product") != "a")
    assert query.group_by("product").domains == (("b", "c"),)
    assert query.group_by(product=["a", "z"]).domains == (("a", "z"),)
    assert rows(keys={"product": ["a"]}).where(IN).group_by("product").domains == (("a", "b"),)


def test_an_expression_under_a_name_is_a_key() -> None:
    groups = rows().group_by("country", band=when(col("n") > 3, "high").otherwise("low"))
    assert groups.keys == ("country", "band")
    assert groups.domains == ((), ("high", "low"))
    with pytest.raises(sf.Refused, match=r"stage\.keys"):
        rows().group_by(n=col("n") % 3)


QUERIES: dict[str, tuple[dict[str, Any], Callable[[Rows], Query]]] = {
    "an IN list": (
        {},
        lambda r: r.where(IN).group_by("product").aggregate(n=ag.count(), u=ag.count_units()),
    ),
    "one value for each unit, which is not true": (
        {"max_rows": 1},
        lambda r: r.group_by("country").aggregate(n=ag.count(), u=ag.count_units()),
    ),
    "mixed": (
        {"max_rows": 1},
        lambda r: r.where(IN).group_by("country", "product").aggregate(u=ag.count_units()),
    ),
    "a CASE": (
        {"max_groups": 1},
        lambda r: r.group_by(k=when(col("n") > 1, "x").otherwise(None)).aggregate(
            n=ag.count(), u=ag.count_units()
        ),
    ),
    "remainders": (
        {"relation": "replace"},
        lambda r: r.group_by(k=col("n") % 2).aggregate(n=ag.count(), u=ag.count_units()),
    ),
}


@pytest.fixture(scope="module")
def swap() -> Iterator[Swap]:
    opened = Swap(SCHEMA)
    yield opened
    opened.close()


def owned(user: int, cells: tuple[tuple[Any, ...], ...]) -> list[dict[str, Any]]:
    return [dict(zip(SCHEMA.names, (user, *cell), strict=True)) for cell in cells]


CELLS = [*product(["X", "Y"], ["a", "b", None], [1]), ("X", "a", 2), ("Y", "c", None)]


def wrong_moves(
    swap: Swap, about: dict[str, Any], ask: Callable[[Rows], Query], promise: Any
) -> list[str]:
    """What moved too far when one unit came, for every unit of at most two rows, and some of
    three.
    """
    release_plan = plan(ask(rows(**about)), promise, swap.source)
    rehearsal, result_found = Rehearsal(release_plan), []
    everybody = owned(1, (("X", "a", 1), ("Y", "b", 2)))

    def run(cells: tuple[tuple[Any, ...], ...]) -> Any:
        swap.hold(pa.Table.from_pylist([*everybody, *owned(2, cells)], SCHEMA))
        return rehearsal.run()

    nobody = run(())
    units = [*combinations_with_replacement(CELLS, 1), *combinations_with_replacement(CELLS, 2)]
    units += [tuple(CELLS[:3]), tuple(CELLS[2:5]), tuple(CELLS)]
    for cells in units:
        result_found += moved(release_plan, nobody, run(cells)).wrong
    return result_found


@pytest.mark.parametrize("name", QUERIES)
def test_no_unit_moves_the_integers_by_more_than_declared(name: str, swap: Swap) -> None:
    about, ask = QUERIES[name]
    promise = Pure(1) if ask(rows(**about)).public else Approx(1, 1e-6)
    assert wrong_moves(swap, about, ask, promise) == []


def test_gaussian_noise_covers_the_limit_too(swap: Swap) -> None:
    about, ask = QUERIES["an IN list"]
    assert wrong_moves(swap, about, ask, sf.ZCDP(1)) == []


def test_a_limit_that_weights_do_not_enforce_is_found(
    swap: Swap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: the limit only on paper, with votes of full weight."""
    from sfumato.tables.plan import bounding

    monkeypatch.setattr(bounding, "_part", lambda total, count, least: count * 0 + total // least)
    about, ask = QUERIES["one value for each unit, which is not true"]
    assert wrong_moves(swap, about, ask, Approx(1, 1e-6)) != []


def test_a_limit_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    query = rows(max_rows=1).group_by("country", "product").aggregate(n=ag.count())
    result_found = group_limit(query)
    assert result_found is not None
    assert re.search("has one country and product", result_found.why)
    no_unit = declare(name="world", schema=TYPES)
    assert group_limit(Rows.of(no_unit, Nobody()).group_by("n").aggregate(k=ag.count())) is None
    assert group_keys.MOST_VALUES == MOST_VALUES
