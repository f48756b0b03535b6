"""Hierarchies of places: read from public tables, keyed by name or path, and the groups that exist:
exact counts by arithmetic, what a neighbour moves, stored and described.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.tables.declare.declaration import Declaration
from sfumato.tables.declare.place_hierarchy import PlaceHierarchy, hierarchy
from sfumato.tables.query.group_keys import count_groups, group_limit
from sfumato.tables.query.stages import Query
from sfumato.testing.exact_checks import through_the_door

from ..refusing import refusal

TREE = {"A": {"Washington": ["a", "b"], "Lake": ["c"]}, "B": {"Washington": ["d"], "Hill": []}}
PLACES = hierarchy("state", "county", "block", places=TREE, keyed_by="path")
ROWS: list[tuple[Any, ...]] = [
    (1, "A", "Washington", "a", True),
    (1, "A", "Lake", "c", False),
    (2, "A", "Washington", "b", True),
    (2, "A", "Hill", "a", True),  # a county of the other state
    (3, "B", "Washington", "d", False),
    (3, "B", "Washington", "d", True),
    (4, "B", "Hill", None, True),
    (5, "C", "Washington", "d", True),
    (6, "B", None, None, False),
]


def protect(rows: list[tuple[Any, ...]] = ROWS, **options: Any) -> Table:
    names = ["user", "state", "county", "block", "vip"]
    kinds = [pa.int64(), pa.string(), pa.string(), pa.string(), pa.bool_()]
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    settings = {"name": "people", "unit": "user", "max_rows": 2, "budget": 100, "keys": PLACES}
    return sf.protect(pa.table(dict(zip(names, columns, strict=True))), **settings | options)


@pytest.fixture(scope="module")
def people() -> Iterator[Table]:
    with protect() as table:
        yield table


@pytest.fixture(scope="module")
def rows() -> Iterator[Table]:
    """The same rows, each a person: counts are whole."""
    with protect(unit=None, max_rows=None, each_row_a_person=True) as table:
        yield table


def test_places_are_read_from_every_kind_of_table(tmp_path: Path) -> None:
    table = pa.table({"county": ["01", "01", "02"], "state": ["A", "A", "A"], "area": [1, 2, 3]})
    expected = PlaceHierarchy(("state", "county"), (("A", "01"), ("A", "02")))
    pq.write_table(table, tmp_path / "places.parquet")
    (tmp_path / "places.csv").write_text("county,state,area\n01,A,1\n02,A,3\n", encoding="utf-8")
    tables: list[Any] = [
        table,
        pd.DataFrame(table.to_pydict()),
        pl.from_arrow(table),
        table.to_pydict(),
        {"A": ["01", "02"]},
        [("A", "01"), ["A", "02"]],
        tmp_path / "places.parquet",
        str(tmp_path / "places.csv"),
    ]
    for places in tables:
        assert hierarchy("state", "county", places=places) == expected
    assert PLACES.paths[-1] == ("B", "Washington", "d")
    assert ("B", "Hill", None) in PLACES.paths
    assert repr(PLACES) == "PlaceHierarchy(2 state › 4 county › 5 block)"
    assert PLACES.down_to("county").paths == PLACES.project(["state", "county"])


REFUSED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "no level": ((), TREE),
    "a level twice": (("a", "a"), {"a": [1]}),
    "no places": (("a", "b"), {}),
    "no such column": (("a", "b"), pa.table({"a": [1]})),
    "uneven columns": (("a", "b"), {"a": [1, 2], "b": [1]}),
    "short paths": (("a", "b"), [("x",)]),
    "a number": (("a",), 5),
    "a text tree": (("a", "b"), {"x": "abc"}),
    "mixed names": (("a",), [("x",), (5,)]),
    "an unknown file": (("a",), "places.xlsx"),
    "no file": (("a",), "nowhere.csv"),
    "a folder": (("a",), "."),
    "a name in two places": (("state", "county", "block"), TREE),
}


@pytest.mark.parametrize(("levels", "places"), REFUSED.values(), ids=list(REFUSED))
def test_unclear_places_are_refused(levels: tuple[Any, ...], places: Any) -> None:
    refused = refusal(lambda: hierarchy(*levels, places=places), "table.hierarchy")
    assert ("Washington" in refused.place) == (len(levels) == 3)


def test_declared_hierarchies_are_refused_where_they_cannot_hold() -> None:
    for keys in (
        {("state", "county"): PLACES},
        {"state": ["A"], ("state", "county"): {"A": ["x"]}},
        {("state", "county"): {"A": ["x"]}, ("county", "block"): {"x": ["y"]}},
    ):
        refusal(partial(protect, keys=keys), "table.hierarchy")
    twice = hierarchy("user", places=[(1,), ("1",)][:1])
    assert protect(keys=twice, unit="state").declaration.domains["user"] == (1,)
    refusal(lambda: protect(keys=hierarchy("planet", places=["x"])), "table.column")


def exact(query: Query) -> dict[tuple[Any, ...], int]:
    through = through_the_door(sf_plan(query))
    (call,) = through.calls
    return dict(
        zip(map(tuple, through.groups.rows), call.integers[0].ravel().tolist(), strict=True)
    )


def sf_plan(query: Query) -> Any:
    return query.plan(epsilon=1)


def test_groups_are_the_combinations_that_exist(rows: Table) -> None:
    names = ["state", "county", "block"]
    for keys in (["state", "county"], ["county", "state"], ["block", "county"], names):
        at = [names.index(key) + 1 for key in keys]
        paths = {tuple(path[i - 1] for i in at) for path in PLACES.paths}
        counts = exact(rows.group_by(*keys).count())
        assert counts == {
            path: sum(tuple(row[i] for i in at) == path for row in ROWS) for path in paths
        }
    alone = exact(rows.group_by("county").count())
    assert alone == {("Hill",): 2, ("Lake",): 1, ("Washington",): 5}
    wide = exact(rows.group_by("vip", "county", "state").count())
    assert len(wide) == 3 * 4
    assert wide[True, "Washington", "A"] == 2
    text = "SELECT state, county, COUNT(*) AS n FROM people GROUP BY state, county"
    assert rows.sql(text, epsilon=90).rows == tuple(exact(rows.group_by("state", "county").count()))


def test_conditions_and_lists_narrow_the_combinations(rows: Table) -> None:
    by = ("state", "county")
    assert set(exact(rows.where(rows["state"] == "B").group_by(*by).count())) == {
        ("B", "Hill"),
        ("B", "Washington"),
    }
    assert set(exact(rows.group_by("state", county=["Lake", "Hill"]).count())) == {
        ("A", "Lake"),
        ("B", "Hill"),
    }
    refusal(lambda: rows.group_by(state=["A"], county=["Hill"]), "stage.places")
    renamed = rows.mutate(where=rows["county"]).group_by("state", "where").count()
    assert count_groups(renamed) == 4
    upper = rows.mutate(county=rows["county"].upper()).group_by("state", "county").count()
    assert count_groups(upper) == 6, "computed names are no levels"


def test_answers_say_which_rows_are_left_out(people: Table) -> None:
    answer = people.group_by("state", "county").count().release(epsilon=1)
    assert any("4 combinations of state and county exist" in rule for rule in answer.rules)
    assert len(answer.rows) == 4
    limit = group_limit(people.group_by("county", "state", "block").count())
    assert limit is not None
    assert limit.count == 2
    with protect(max_rows=9) as many:
        limit = group_limit(many.group_by("county", "state").count())
        assert limit is not None
        assert (limit.count, limit.why) == (4, "county and state have together 4 public keys")
    assert "places: 2 state › 4 county › 5 block" in repr(people.declaration)


@pytest.mark.parametrize("promise", [sf.Pure(1), sf.ZCDP("0.5")], ids=["L1", "L2"])
@pytest.mark.parametrize("keys", [("state", "county"), ("county", "block", "state", "vip")])
def test_neighbours_move_the_counts_by_what_is_declared(
    promise: sf.Guarantee, keys: tuple[str, ...]
) -> None:
    """One or two rows of a unit, in one place, in two, or at a place that does not exist."""
    first, second, nowhere = ("A", "Washington", "a"), ("B", "Hill", None), ("A", "Hill", "a")
    worlds = [[], [first] * 2, [first, second], [first, second, nowhere]]
    calls = []
    for world in worlds:
        with protect([*ROWS[:4], *((9, *place, True) for place in world)]) as table:
            plan = table.group_by(*keys).count().plan(promise=promise)
            calls.append(through_the_door(plan).calls[0])
    norm = 1 if promise == sf.Pure(1) else 2
    noise: Any = calls[0].mechanism
    differences = [
        [
            int(x) - int(y)
            for x, y in zip(call.integers[0].flat, calls[0].integers[0].flat, strict=True)
        ]
        for call in calls
    ]
    moves = [sum(abs(x) ** norm for x in each) / noise.sensitivity**norm for each in differences]
    assert len(differences[0]) == (4 if len(keys) == 2 else 15)
    assert 0.4 < max(moves) <= 1


def test_private_keys_beside_places(rows: Table) -> None:
    """A hierarchy beside a key that is not public: its own combinations still are."""
    with protect(unit=None, max_rows=None, each_row_a_person=True, keys=PLACES) as table:
        query = table.mutate(who=table["user"] + 0).group_by("state", "county", "who").count()
        statement = query.plan(promise=sf.Approx(1, "1e-6")).statements[0]
        lines = table._source.engine.tally(statement).to_pylist()
        paths = {(line["k0"], line["k1"]) for line in lines}
        assert paths <= set(PLACES.project(["state", "county"]))
        assert len(lines) == 5


def test_stored_as_toml_and_as_arguments(people: Table) -> None:
    declared = people.declaration
    text = declared.to_toml()
    assert Declaration.from_toml(text) == declared
    assert re.search(r'\["B", "Hill"\]', text)
    with protect(**{k: v for k, v in declared.arguments.items() if k != "types"}) as again:
        assert again.declaration == declared
    inner = hierarchy("state", "county", places=[("A", None), (None, "x")])
    with protect(keys=inner) as table:
        assert Declaration.from_toml(table.declaration.to_toml()) == table.declaration
    for wrong in ("levels = 5", "planet = 1", 'places = ["x"]', "places = [[]]"):
        broken = text[: text.index("[[hierarchies]]")] + f"[[hierarchies]]\n{wrong}\n"
        refusal(partial(Declaration.from_toml, broken), "table.hierarchy")


def test_tables_that_agree_have_all_combinations(rows: Table) -> None:
    text = "SELECT state, county, COUNT(*) AS n FROM people GROUP BY ROLLUP(state, county)"
    plan = rows.plan(text, epsilon=1)
    answer = rows.sql(text, epsilon=1)
    assert len(answer.rows) == plan.group_count == 1 + 2 + 2 * 3


def test_one_of_several_tables() -> None:
    tables = {
        "people": pa.table({"id": [1, 2, 3], "state": ["A", "A", "B"]}),
        "stays": pa.table(
            {"who": [1, 2, 2, 3], "state": ["A", "B", "A", "B"], "county": ["x", "y", "y", "y"]}
        ),
    }
    about: dict[str, Any] = {"unit": "people.id", "links": {"stays.who": "people.id"}}
    inside = hierarchy("stays.state", "stays.county", places={"A": ["x"], "B": ["y"]})
    about |= {"max_rows": 2, "budget": 9, "keys": {inside.levels: inside}}
    with sf.protect(tables, **about) as database:
        declared = database.declaration
        assert type(declared).from_toml(declared.to_toml()) == declared
        again = {key: value for key, value in declared.arguments.items() if value}
        with sf.protect(tables, budget=9, **again) as repeated:
            assert repeated.declaration == declared
        answer = database.sql(
            "SELECT s.state, county, COUNT(*) AS n FROM people p JOIN stays s ON p.id = s.who "
            "GROUP BY 1, 2",
            epsilon=1,
        )
        assert set(answer.rows) == {("A", "x"), ("B", "y")}
        single = database["stays"].group_by("state", "county").count()
        assert set(exact(single)) == {("A", "x"), ("B", "y")}
    apart = {("people.state", "stays.county"): {"A": ["x"]}}
    refusal(lambda: sf.protect(tables, **{**about, "keys": apart}), "table.hierarchy")
