"""Worlds in which every statement of an answer is tried: the truth is known, the noise is drawn
anew each time.

*World*     A plan, its exact integers (tallied once), and the answer that these would give without
            noise. Each draw is what the door would release.
*Check*     A function of a world and a draw that says, for each thing that was stated, whether it
            is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato import release as door
from sfumato.answers import Answer
from sfumato.answers.chosen_groups import choose_groups
from sfumato.answers.intervals import level_of
from sfumato.answers.left_out import left_out
from sfumato.ledger.receipts import Receipt
from sfumato.noise.bits import SYSTEM
from sfumato.session import Table
from sfumato.session.choose_limits import ROW_GROUPS, SUM_GROUPS, Aim
from sfumato.session.learning import choose_first, plan_lesson
from sfumato.tables.plan.missing_limits import MissingLimit
from sfumato.tables.plan.query_plan import Plan
from sfumato.testing.exact_checks import Rehearsal, exact_answer

BUDGET = {"pure": sf.Pure(10**6), "approx": sf.Approx(10**6, "0.5"), "zcdp": sf.ZCDP(10**6, "0.5")}
KEYS = [f"g{i}" for i in range(6)]
_NEVER = "1970-01-01T00:00:00.000+00:00"
EQUAL = [f"k{i:02}" for i in range(40)]


@dataclass(frozen=True, eq=False)
class World:
    """A plan, its exact integers, and the answer without noise."""

    plan: Plan
    tally: tuple[Any, ...]
    truth: Answer
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, plan: Plan, **about: Any) -> World:
        if plan.workload is not None:
            return Groupings.of_groupings(table, plan)
        rehearsal = Rehearsal(plan, fixed_knots=False)
        rehearsal.plan.__dict__["statements"] = (
            plan.statements
        )  # the same draw of rows, where rows are drawn
        through = rehearsal.run()
        receipt = Receipt(
            table.name,
            0,
            "0" * 64,
            plan.cost,
            _NEVER,
            "",
            None,
            reserved=False,
        )
        return cls(
            plan,
            through.tally,
            door.finish(
                plan, through.groups.rows, through.pieces, ledger=table.ledger, receipt=receipt
            ),
            about,
        )

    def draw(self) -> Answer:
        """An answer with noise, before HAVING, ORDER BY and LIMIT."""
        groups, noisy = door._perturb(self.plan, self.plan.groups, self.tally, SYSTEM)
        return replace(self.truth, rows=tuple(groups.rows), pieces=noisy, receipts=())

    def finish(self, answer: Answer) -> Answer:
        """What the text makes of it."""
        finish = getattr(self.plan, "finish", None)
        return answer if finish is None else finish(answer)

    def exact(self, name: str) -> dict[tuple[Any, ...], Any]:
        """The bounded value of a column, by group, of all groups."""
        return _exact(self, name)


@dataclass(frozen=True, eq=False)
class Groupings(World):
    """A plan of several groupings: its draws are reconciled tables."""

    @classmethod
    def of_groupings(cls, table: Table, plan: Plan) -> Groupings:
        truth = exact_answer(plan, table)
        tally = door._tally(plan, plan.statements, None)
        receipt = Receipt(table.name, 0, "0" * 64, plan.cost, _NEVER, "", None, reserved=False)
        ready = partial(door.finish_groupings, plan, ledger=table.ledger, receipt=receipt)
        return cls(plan, tally, estimates(truth), {"answer": ready})

    def draw(self) -> Answer:
        assert self.plan.groups is not None
        noisy = door._perturb_groupings(self.plan, self.plan.groups, self.tally, SYSTEM)
        answer: Answer = self.about["answer"](noisy)
        return answer


def estimates(answer: Answer) -> Answer:
    """The answer with its estimates in the place of whole numbers that add up."""
    tables = tuple(
        replace(table, columns=tuple(replace(c, processed=None) for c in table.columns))
        for table in answer.tables
    )
    return replace(answer, tables=tables)


@cache
def _exact(world: World, name: str) -> dict[tuple[Any, ...], Any]:
    finish = getattr(world.plan, "finish", None)
    total = (
        world.truth
        if finish is None
        else replace(finish, having=None, qualify=None, order=(), limit=None, offset=0)(world.truth)
    )
    return dict(zip(total.rows, total[name], strict=True))


Check = Callable[[World, Answer], Iterable[bool]]
Then = Callable[[Answer], Answer]


def _holds(
    world: World, answer: Answer, name: str, confidence: Any, *, simultaneous: bool
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    column = answer.column(name)
    low, high = answer.interval(name, level_of(column, confidence), simultaneous=simultaneous)
    if not answer.rows:
        return np.ones(0, dtype=bool)
    exact = world.exact(name)
    truth = np.array([exact[row] for row in answer.rows], dtype=np.float64)
    near = 1e-9 * np.abs(truth)  # the truth is rounded to a double
    return np.asarray((low <= truth + near) & (truth - near <= high) | np.isnan(truth))


def same(answer: Answer) -> Answer:
    return answer


def each(name: str, then: Then = same, *, confidence: Any = 0.95) -> Check:
    """The interval of each cell; cells of different groups have noise of their own."""
    return lambda world, answer: np.ravel(
        _holds(world, then(world.finish(answer)), name, confidence, simultaneous=False)
    ).tolist()


def at_once(
    name: str, then: Then = same, *, simultaneous: bool = True, confidence: Any = 0.95
) -> Check:
    """The intervals of all shown cells, together."""
    return lambda world, answer: [
        bool(
            _holds(
                world, then(world.finish(answer)), name, confidence, simultaneous=simultaneous
            ).all()
        )
    ]


def cell(name: str, at: int, *, confidence: Any = 0.95) -> Check:
    """The interval of one cell, where those of several groups share noise."""

    def check(world: World, answer: Answer) -> list[bool]:
        shown = world.finish(answer)
        held = _holds(world, shown, name, confidence, simultaneous=False)
        return [bool(each) for each in held[at : at + 1]]

    return check


def in_table(name: str, *keys: str, simultaneous: bool = False, confidence: Any = 0.95) -> Check:
    """The intervals of one table of several groupings, at once; or that of its first cell, for the
    cells of reconciled tables share noise.
    """

    def check(world: World, answer: Answer) -> list[bool]:
        low, high = answer.table(*keys).interval(name, confidence, simultaneous=simultaneous)
        exact = world.truth.table(*keys)[name]
        near = 1e-9 * np.abs(exact)  # the truth is rounded to a double
        held = (low <= exact + near) & (exact - near <= high)
        return [bool(held.all() if simultaneous else held[0])]

    return check


def at_edge(name: str, edge: int, *, confidence: Any = 0.95) -> Check:
    """The interval of one cumulative count of each group, for those of a group share noise."""

    def check(world: World, answer: Answer) -> list[bool]:
        held = _holds(world, world.finish(answer), name, confidence, simultaneous=False)
        return [bool(each) for each in held[:, edge]]

    return check


def at_once_and_adding(name: str, then: Then = same) -> Check:
    """The intervals of all cells of a CUBE (g, y) hold, and its shown counts are whole and add up
    from table to table. The second is certain.
    """

    def check(world: World, answer: Answer) -> list[bool]:
        shown = then(answer)
        cells = shown.table("g", "y")[name].reshape(len(KEYS), -1)
        sums = {("g",): cells.sum(axis=1), ("y",): cells.sum(axis=0), (): cells.sum()}
        assert (cells == np.round(cells)).all()
        assert all((shown.table(*keys)[name] == of).all() for keys, of in sums.items())
        return [bool(_holds(world, shown, name, 0.95, simultaneous=True).all())]

    return check


def rising_at_once(name: str) -> Check:
    """All intervals of cumulative counts hold once these are straightened: then they certainly
    never fall and are not below 0.
    """

    def check(world: World, answer: Answer) -> list[bool]:
        shown = world.finish(answer).rising()
        assert (np.diff(shown[name], axis=1) >= 0).all()
        assert (shown[name] >= 0).all()
        return [bool(_holds(world, shown, name, 0.95, simultaneous=True).all())]

    return check


def over_chosen(name: str, passes: Callable[[float], bool]) -> Check:
    """The first interval of a column across groups that noisy values chose: about these groups."""

    def check(world: World, answer: Answer) -> list[bool]:
        shown = world.finish(answer)
        places = [i for i, value in enumerate(answer["n"]) if passes(value)]
        finish: Any = world.plan.finish  # type: ignore[attr-defined]  # plans of SQL have it
        outer = None if finish.outer is None else replace(finish.outer, where=None)
        exact = replace(finish, having=None, outer=outer)(choose_groups(world.truth, places, {}))
        low, high = shown.interval(name)
        return [bool(low[0] <= exact[name][0] <= high[0])] if len(low) else []

    return check


def average(
    count: int, check: Callable[..., Check], *arguments: Any, before: Then = same, **named: Any
) -> Check:
    """Of an average of several releases."""

    def merged(world: World, answer: Answer) -> Iterable[bool]:
        from sfumato.answers import Paid, merge

        merged_answer = [before(answer), *(before(world.draw()) for _ in range(count - 1))]
        return check(*arguments, **named)(
            world,
            merge(
                [
                    replace(release, receipts=(Paid(i, str(i), ""),))
                    for i, release in enumerate(merged_answer)
                ]
            ),
        )

    return merged


def clipped(side: int) -> Check:
    """The share of rows on one side of the bounds."""

    def share(world: World, answer: Answer) -> Iterable[bool]:
        (name,) = (piece.name for piece in world.truth.pieces if piece.name.startswith("clipped:"))
        counts = next(piece.values[0] for piece in world.truth.pieces if piece.name == name)
        estimate = answer.clipped()[name.removeprefix("clipped:")][side // 2]
        return [estimate.low <= counts[side] / counts.sum() <= estimate.high]

    return share


def _true_shares(world: World, answer: Answer) -> list[float]:
    """The exact share of each statement about what limits left out, in their order."""
    shares = []
    for piece in world.truth.pieces:
        if piece.name.startswith("clipped:"):
            counts = piece.values[0]
            shares += [counts[side] / counts.sum() for side in (0, 2)]
    return [*shares, *([_hidden(world, answer)] if answer.withheld() is not None else [])]


def left_out_together(world: World, answer: Answer) -> Iterable[bool]:
    """All statements about what limits left out, at once, as they are printed."""
    statements, true = left_out(answer), _true_shares(world, answer)
    return [
        all(
            _printed(statement.text)[0] <= 100 * share <= _printed(statement.text)[1]
            for statement, share in zip(statements, true, strict=True)
        )
    ]


def left_out_said(world: World, answer: Answer) -> Iterable[bool]:
    """Nothing is said to be left out where nothing is."""
    statements, true = left_out(answer), _true_shares(world, answer)
    return [
        all(
            share > 0
            for statement, share in zip(statements, true, strict=True)
            if statement.is_said
        )
    ]


def left_out_claimed(world: World, answer: Answer) -> Iterable[bool]:
    """What an answer would claim if it stated every estimate above 1 %, where nothing is left
    out.
    """
    assert not any(_true_shares(world, answer))
    return [statement.share.value <= 0.01 for statement in left_out(answer)]


def withheld(world: World, answer: Answer) -> Iterable[bool]:
    """The share of rows in groups that are not named, of those that this draw did not name."""
    estimate = world.finish(answer).withheld()
    assert estimate is not None
    return [estimate.low <= _hidden(world, answer) <= estimate.high]


def withheld_label(world: World, answer: Answer) -> Iterable[bool]:
    """Whether the label about withheld rows holds, where groups are left out."""
    (text,) = (
        label
        for label in world.finish(answer).processing
        if label.endswith("in groups too small to be named")
    )
    low, high = _printed(text)
    return [low <= 100 * _hidden(world, answer) <= high]


def _hidden(world: World, answer: Answer) -> float:
    counts = {
        row: int(next(p for p in world.truth.pieces if p.name == "count").values[i, 0])
        for i, row in enumerate(world.truth.rows)
    }
    return 1 - sum(counts[row] for row in answer.rows) / sum(counts.values())


def _printed(text: str) -> tuple[float, float]:
    """Between which ends a printed share lies: 'about 2 % ± 1 %', 'about 2 % (between 0 % and 4
    %)', or 'at most 3 %'.
    """
    words = text.split(" of ")[0].replace("(", "").split()
    numbers = [float(word) for word in words if word.replace(".", "", 1).isdigit()]
    if text.startswith("at most"):
        return 0.0, numbers[0]
    return (
        (numbers[0] - numbers[1], numbers[0] + numbers[1])
        if "±" in words
        else (numbers[1], numbers[2])
    )


def surely(count: int) -> Check:
    """The groups that the label counts among the largest are. The same arithmetic as the label's
    finds them.
    """

    def sure(world: World, answer: Answer) -> Iterable[bool]:
        exact = world.exact("n")
        low, high = answer.interval("n", simultaneous=True)
        certain = [
            row
            for i, row in enumerate(answer.rows)
            if int((np.delete(high, i) >= low[i]).sum()) < count
        ]
        text = " ".join(answer.top(count, "n").processing)
        assert (
            (f"include at least {len(certain)} of them" in text)
            if count > 1
            else ("confidence, it is the largest" in text) == bool(certain)
        )
        return [
            all(
                sum(count_of_group > exact[row] for count_of_group in exact.values()) < count
                for row in certain
            )
        ]

    return sure


def learned(world: World, answer: Answer) -> tuple[tuple[Fraction, ...], str, tuple[Fraction, ...]]:
    """Return the limit or bounds learned from a histogram, the note that states their shares, and
    the ends up to which the note counts units or rows.
    """
    limit, _ = choose_first(
        world.about["lack"],
        world.about["declared"],
        world.plan,
        answer["h"][0].tolist(),
        world.about["aim"],
        {},
    )
    marks = limit.into(world.about["declared"]).learned
    assert limit.shares is not None
    bounds = world.about["lack"].kind == "bounds"
    return (
        limit.value,
        marks.bounds_note("x") if bounds else marks.limit_note("max_rows"),
        limit.shares[3 if bounds else 2 :],
    )


def learned_rows(world: World, answer: Answer) -> Iterable[bool]:
    """Check the stated share of units with more rows than the learned limit, among the units up to
    the note's end.
    """
    (limit,), text, place = learned(world, answer)
    rows = world.about["rows"][world.about["rows"] <= float(place[0])]
    text = text.split(", with ")[0]
    return [_shares_hold(text, {"have more": float((rows > int(limit)).mean())})]


def learned_rows_beyond(world: World, answer: Answer) -> Iterable[bool]:
    """Check the stated bound on the share of rows beyond the learned limit, for the same units."""
    (limit,), text, place = learned(world, answer)
    rows = world.about["rows"][world.about["rows"] <= float(place[0])]
    share = float(np.maximum(rows - int(limit), 0).sum() / rows.sum())
    if ", with " in text:
        least, most = float(100 * place[3]), float(100 * place[2])
        stated = f"between {least:.4g} % and {most:.4g} %" if least else f"at most {most:.4g} %"
        assert f", with {stated} of their rows beyond the limit" in text
    return [float(place[3]) <= share <= float(place[2])]


def learned_said(world: World, answer: Answer) -> Iterable[bool]:
    """Whatever an answer says to lie beyond a learned limit is there."""
    limit, _ = choose_first(
        world.about["lack"],
        world.about["declared"],
        world.plan,
        answer["h"][0].tolist(),
        world.about["aim"],
        {},
    )
    marks, numbers = limit.into(world.about["declared"]).learned, world.about["values"]
    if world.about["lack"].kind == "bounds":
        low, high = map(float, limit.value)
        true = {"below": (numbers < low).any(), "above": (numbers >= high).any()}
        return [bool(all(true[side] for side in marks.rows_outside("x")))]
    stated, most = marks.least_beyond("max_rows"), int(limit.value[0])
    share = float(np.maximum(numbers - most, 0).sum() / numbers.sum())
    return [not stated or float(stated.split()[2]) <= 100 * share]


def learned_bounds(world: World, answer: Answer) -> Iterable[bool]:
    """Check the stated shares of values outside the learned bounds, for values between two ends."""
    (low, high), text, place = learned(world, answer)
    values = world.about["values"]
    values = values[(values >= float(place[0])) & (values < float(place[1]))]
    return [
        _shares_hold(
            text,
            {
                "below": float((values < float(low)).mean()),
                "above": float((values >= float(high)).mean()),
            },
        )
    ]


def few_cells(world: World, answer: Answer) -> Iterable[bool]:
    """What would be said by the first four cells beyond the limit alone, with two deviations of
    each: of a limit of one row.
    """
    counts = answer["h"][0]
    mechanism: Any = world.plan.calibration.noise[0][0]
    share = counts[1:5].sum() / counts.sum()
    off = 4 * float(mechanism.variance) ** 0.5 / 2**20 / counts.sum()
    return [abs(share - float((world.about["rows"] > 1).mean())) <= off]


def unmarked(answer: Answer) -> Answer:
    """An answer that has forgotten from how many groups its values chose."""
    return replace(answer, pieces=tuple(replace(piece, among=0) for piece in answer.pieces))


def _shares_hold(text: str, truth: Mapping[str, float]) -> bool:
    """Whether what is printed of shares is true: ± for those that are told, at most for all where
    none is.
    """
    if "at most" in text:
        most = float(text.split("at most about ")[1].split()[0])
        return all(100 * share <= most for share in truth.values())
    parts = [part for part in text.strip(" ()").split("; ") if part.startswith("about")]
    return all(
        _printed(part)[0] <= 100 * truth[where] <= _printed(part)[1]
        for part in parts
        for where in truth
        if part.endswith(where)
    )


# worlds


def _people(seed: int = 7, units: int = 400) -> pa.Table:
    """Units with one to four rows in six groups; values of which some lie outside of their
    bounds.
    """
    draw = np.random.default_rng(seed)
    owners = np.repeat(np.arange(units), draw.integers(1, 5, units))
    size = len(owners)
    return pa.table(
        {
            "u": owners,
            "g": [KEYS[i] for i in draw.integers(0, 6, size)],
            "x": draw.normal(5, 4, size),
            "y": draw.integers(1, 6, size),
        }
    )


def _protected(table: pa.Table, promise: str, **about: Any) -> Table:
    arguments = {
        "name": "t",
        "unit": "u",
        "max_rows": 2,
        "bounds": {"x": (0, 10), "y": (1, 5)},
        "keys": {"g": KEYS},
        "budget": BUDGET[promise],
    }
    protected: Table = sf.protect(table, **{**arguments, **about})
    return protected


def _kinds(promise: str, arguments: Any, **about: Any) -> World:
    table = _protected(_people(), promise, **about)
    query = {
        "n": sf.count(),
        "units": sf.count_units(),
        "different": sf.count_distinct("y"),
        "s": sf.sum("x"),
        "r": sf.ratio("x", "y"),
        "m": sf.mean("x"),
        "w": sf.mean("x", weight="y"),
        "v": sf.var("x"),
        "sd": sf.std("x"),
        "vs": sf.var("x", sample=True),
        "sds": sf.std("x", sample=True),
        "c": sf.covar("x", "y"),
        "cs": sf.covar("x", "y", sample=True),
        "k": sf.corr("x", "y"),
        "slope": sf.regr_slope("y", "x"),
        "intercept": sf.regr_intercept("y", "x"),
        "r2": sf.regr_r2("y", "x"),
        "both": sf.regr_count("y", "x"),
        "mean_x": sf.regr_avgx("y", "x"),
        "mean_y": sf.regr_avgy("y", "x"),
        "h": sf.histogram("y", edges=[1, 3, 6]),
        "up": sf.cumulative("y", edges=[1, 3, 6]),
    }
    return World.of(table, table.group_by("g").aggregate(**query).plan(**arguments))


def _world_of_query(
    text: str,
    promise: str = "pure",
    arguments: Any = None,
    table: pa.Table | None = None,
    **about: Any,
) -> World:
    query = _protected(_people() if table is None else table, promise, **about)
    release_plan = query.plan(text, **(arguments or {"epsilon": 40}))
    assert isinstance(release_plan, Plan)
    return World.of(query, release_plan)


def _percentiles() -> World:
    table = _protected(_people(), "pure")
    return World.of(
        table, table.group_by("g").aggregate(q=sf.quantiles("x", ["0.25", "0.75"])).plan(epsilon=40)
    )


def _curves(promise: str, arguments: Any) -> World:
    """Cumulative counts up to so many edges that a tree or a root is measured; of many cells
    nothing is there.
    """
    table = _protected(_people(), promise)
    edges = [Fraction(i, 4) for i in range(41)]
    plan = table.group_by("g").aggregate(up=sf.cumulative("x", edges=edges)).plan(**arguments)
    return World.of(table, plan)


def _groupings(text: str, promise: str, arguments: Any) -> World:
    """Tables by two keys; nobody has the values 6 and 7 of y."""
    return _world_of_query(
        text, promise, arguments, keys={"g": KEYS, "y": range(1, 8)}, bounds={"x": (0, 10)}
    )


def _equal(text: str, columns: str = "COUNT(*) AS n, SUM(x) AS s") -> World:
    """Forty groups that are all alike: whatever is chosen is chosen by noise alone."""
    size = 50 * len(EQUAL)
    table = pa.table(
        {
            "u": np.arange(size),
            "g": [EQUAL[i % len(EQUAL)] for i in range(size)],
            "x": np.full(size, 5.0),
            "y": np.ones(size, dtype=np.int64),
        }
    )
    return _world_of_query(
        f"SELECT g, {columns} FROM t GROUP BY g {text}",
        arguments={"epsilon": 1},
        table=table,
        max_rows=1,
        keys={"g": EQUAL},
    )


def _equal_outer(text: str) -> World:
    """A SELECT over counts of forty equal groups."""
    table = pa.table(
        {"u": np.arange(2000), "g": EQUAL * 50, "x": np.full(2000, 5.0), "y": np.ones(2000)}
    )
    return _world_of_query(
        text.format("SELECT g, COUNT(*) AS n FROM t GROUP BY g"),
        arguments={"epsilon": 1},
        table=table,
        max_rows=1,
        keys={"g": EQUAL},
    )


def _private(text: str, promise: str = "approx", arguments: Any = None, **about: Any) -> World:
    """Four large groups and many that are one person's each. Some of every unit's rows are in a
    group of its own.
    """
    units = 400
    rows = [
        (u, f"own {u}" if i == 2 else KEYS[(u + i) % 4], float((u * 7 + i) % 11))
        for u in range(units)
        for i in range(3)
    ]
    table = pa.table(
        {
            "u": [row[0] for row in rows],
            "g": [row[1] for row in rows],
            "x": [row[2] for row in rows],
            "y": [1] * len(rows),
        }
    )
    return _world_of_query(
        text,
        promise,
        arguments or {"epsilon": 8, "delta": "1e-3"},
        table,
        **{"max_rows": 3, "keys": {}, **about},
    )


def _lesson(kind: str, values: np.ndarray[Any, Any], epsilon: str) -> World:
    """A histogram from which a limit is learned."""
    column = {"x": values} if kind == "bounds" else {"z": np.zeros(int(values.sum()))}
    owners = (
        np.arange(len(values)) if kind == "bounds" else np.repeat(np.arange(len(values)), values)
    )
    table = sf.protect(pa.table({"u": owners, **column}), name="t", unit="u", budget=BUDGET["pure"])
    limit: Any = kind
    lack = MissingLimit(limit, ("x",) if kind == "bounds" else (), "")
    declared = table.declaration
    about = {
        "lack": lack,
        "declared": declared,
        "aim": Aim(3000.0 if kind == "bounds" else 30.0, ROW_GROUPS, SUM_GROUPS),
        "rows": values,
        "values": values,
    }
    return World.of(table, plan_lesson(table.state, lack, sf.Pure(Fraction(epsilon))), **about)


def _heavy(units: int) -> np.ndarray[Any, Any]:
    """Most units have one row, few of them very many: further out than a few cells beyond any
    limit.
    """
    rows = np.ones(units, dtype=np.int64)
    rows[: units // 80] = 150
    return rows


def _low_in_cell(units: int) -> np.ndarray[Any, Any]:
    """Half of the units have the fewest rows of a cell, of 9 to 16."""
    return np.where(np.arange(units) % 2, 9, 1)


def _outlying(units: int) -> np.ndarray[Any, Any]:
    values = np.random.default_rng(5).gamma(2.0, 3.0, units)
    values[: units // 50] = -1e9
    values[units // 50 : units // 25] = 3e6
    return values


MANY = "COUNT(*) AS n, SUM(x) AS s"

WORLDS: dict[str, Callable[[], World]] = {
    "laplace": lambda: _kinds("pure", {"epsilon": 60}),
    "gaussian": lambda: _kinds("zcdp", {"promise": sf.ZCDP(100)}),
    "drawn": lambda: _kinds("pure", {"epsilon": 60}, bounding="truncation"),
    "replaced": lambda: _kinds("pure", {"epsilon": 60}, relation="replace"),
    "rows": lambda: _kinds("pure", {"epsilon": 60}, unit=None, max_rows=None),
    "cumulative": lambda: _curves("pure", {"epsilon": 4}),
    "cumulative, gaussian": lambda: _curves("zcdp", {"promise": sf.ZCDP("0.5")}),
    "cube": lambda: _groupings(
        f"SELECT g, y, {MANY}, AVG(x) AS m FROM t GROUP BY CUBE (g, y)",
        "zcdp",
        {"promise": sf.ZCDP("0.5")},
    ),
    "rollup": lambda: _groupings(
        f"SELECT g, y, GROUPING(y) AS level, {MANY} FROM t GROUP BY ROLLUP (g, y)",
        "pure",
        {"epsilon": 4},
    ),
    "cube, cut": lambda: _groupings(
        "SELECT g, y, COUNT(*) AS n FROM t GROUP BY CUBE (g, y) HAVING GROUPING(g) = 0 OR n > 20 "
        "ORDER BY n LIMIT 4",
        "zcdp",
        {"promise": sf.ZCDP("0.5")},
    ),
    "quantiles": lambda: _world_of_query(
        "SELECT g, MEDIAN(x) AS q, MIN(x) AS low, MAX(x) AS high, 2 * MEDIAN(x) + 1 AS "
        "twice FROM t GROUP BY g"
    ),
    "percentiles": _percentiles,
    "computed": lambda: _world_of_query(
        "SELECT g, SUM(x) / COUNT(*) AS r, 100 * COUNT_IF(y > 2) / COUNT(*) AS part, "
        "SUM(x) - 2 * SUM(y) AS d FROM t GROUP BY g"
    ),
    "first": lambda: _equal("ORDER BY n DESC LIMIT 1"),
    "five": lambda: _equal("ORDER BY n DESC LIMIT 5"),
    "last": lambda: _equal("ORDER BY n LIMIT 3 OFFSET 2"),
    "offset": lambda: _equal("ORDER BY n OFFSET 37"),
    "having": lambda: _equal("HAVING n > 54"),
    "both": lambda: _equal("HAVING n > 50 ORDER BY s DESC LIMIT 3"),
    "hidden": lambda: _equal(
        "ORDER BY SUM(x) DESC LIMIT 2", "COUNT(*) AS n, SUM(x) / COUNT(*) AS r, AVG(x) AS m"
    ),
    "keys": lambda: _equal("ORDER BY g DESC LIMIT 7"),
    "equal": lambda: _equal(""),
    "chosen quantile": lambda: _equal("ORDER BY q DESC LIMIT 2", "MEDIAN(x + y) AS q"),
    "named": lambda: _private(f"SELECT g, {MANY} FROM t GROUP BY g"),
    "named, drawn": lambda: _private(f"SELECT g, {MANY} FROM t GROUP BY g", bounding="truncation"),
    "named, filtered": lambda: _private(
        "SELECT g, COUNT_IF(x > 9) AS rare, COUNT(*) AS n FROM t GROUP BY g"
    ),
    "named, cut": lambda: _private(f"SELECT g, {MANY} FROM t GROUP BY g ORDER BY n DESC LIMIT 2"),
    "total": lambda: _world_of_query("SELECT COUNT(*) AS n FROM t"),
    "within": lambda: _world_of_query("SELECT SUM(y) AS s FROM t", arguments={"epsilon": 1}),
    "windows": lambda: _world_of_query(
        "SELECT g, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share, SUM(COUNT(*)) OVER w "
        "AS running, COUNT(*) - LAG(COUNT(*)) OVER w AS change, COUNT(*) / LAG(COUNT(*)) OVER w "
        "- 1 AS growth, AVG(COUNT(*)) OVER (ORDER BY g ROWS 2 PRECEDING) AS smooth, "
        "MAX(COUNT(*)) OVER () AS most, RANK() OVER (ORDER BY COUNT(*) DESC) AS place, "
        "NTILE(2) OVER (ORDER BY COUNT(*)) AS half, LAG(AVG(x)) OVER w AS before, "
        "SUM(AVG(x)) OVER w AS means FROM t GROUP BY g WINDOW w AS (ORDER BY g)",
        arguments={"epsilon": 4},
    ),
    "windows, gaussian": lambda: _world_of_query(
        "SELECT g, COUNT(*) / SUM(COUNT(*)) OVER () AS share, SUM(SUM(x)) OVER (ORDER BY g) AS "
        "running, SUM(x) / SUM(COUNT(*)) OVER () AS r FROM t GROUP BY g",
        "zcdp",
        {"promise": sf.ZCDP("0.5")},
    ),
    "windows, cut": lambda: _equal(
        "ORDER BY n DESC LIMIT 3",
        "COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER (ORDER BY g ROWS 3 PRECEDING) AS share, "
        "SUM(COUNT(*)) OVER (ORDER BY g) AS running, RANK() OVER (ORDER BY COUNT(*) DESC) AS place",
    ),
    "windows, chosen": lambda: _equal(
        "HAVING n > 52",
        "COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total, COUNT(*) / SUM(COUNT(*)) OVER () AS share",
    ),
    "outer": lambda: _world_of_query(
        "SELECT AVG(n) AS mean, MAX(n) AS most, SUM(n) AS total, MAX(n) / SUM(n) AS share FROM "
        "(SELECT g, COUNT(*) AS n FROM t GROUP BY g)",
        arguments={"epsilon": 4},
    ),
    "outer, chosen": lambda: _equal_outer("SELECT AVG(n) AS mean FROM ({}) WHERE n > 52"),
    "grouped": lambda: _world_of_query("SELECT g, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY g"),
    "grouped, gaussian": lambda: _world_of_query(
        "SELECT g, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY g", "zcdp", {"promise": sf.ZCDP(100)}
    ),
    "learned rows": lambda: _lesson("max_rows", _heavy(30_000), "0.1"),
    "learned rows, one each": lambda: _lesson("max_rows", np.ones(3_000, dtype=np.int64), "0.1"),
    "learned rows, low in their cell": lambda: _lesson("max_rows", _low_in_cell(6_000), "0.1"),
    "learned rows of few": lambda: _lesson("max_rows", _heavy(2_000), "0.1"),
    "learned bounds": lambda: _lesson("bounds", _outlying(30_000), "0.2"),
    "learned bounds of few": lambda: _lesson("bounds", _outlying(3_000), "0.2"),
}


@cache
def world(name: str) -> World:
    """Made once; nothing in it changes."""
    return WORLDS[name]()


def tried(name: str, checks: Mapping[str, Check], releases: int) -> dict[str, Sequence[bool]]:
    """What came of so many releases, by what was stated."""
    place = world(name)
    outcomes: dict[str, list[bool]] = {stated: [] for stated in checks}
    for _ in range(releases):
        answer = place.draw()
        for stated, check in checks.items():
            outcomes[stated].extend(check(place, answer))
    return dict(outcomes)
