"""Every statement that an answer can print is true as often as it says: intervals, shares and
remarks, of every aggregate, after every choice of groups.

The table of cases is complete: a new kind of column, aggregate, helper, clause or text fails here
until it is in it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp

import sfumato
from sfumato.answers import KINDS, Answer
from sfumato.sql.postprocess import PostProcessing
from sfumato.tables.aggregates import KINDS as AGGREGATE_KINDS

from . import simulation
from .simulation import (
    Check,
    at_edge,
    at_once,
    at_once_and_adding,
    average,
    cell,
    clipped,
    each,
    estimates,
    in_table,
    learned_bounds,
    learned_rows,
    learned_rows_beyond,
    learned_said,
    left_out_said,
    left_out_together,
    over_chosen,
    rising_at_once,
    surely,
    tried,
    withheld,
    withheld_label,
    world,
)

ALARM = 1e-9
"""Chance of a false alarm in one case: of all of them, at most 10⁻⁶ in every run of this file."""

LARGER = 8
"""So many times as many releases in `make slow`."""


class Group(NamedTuple):
    """Statements that are tried with the same releases."""

    releases: int
    checks: dict[str, Check]


def both(name: str, **named: Any) -> dict[str, Check]:
    """A column whose values chose nothing: each cell, and all at once."""
    return {
        f"{name}: each cell": each(name, **named),
        f"{name}: all at once": at_once(name, **named),
    }


def chosen(name: str, then: Any = simulation.same) -> dict[str, Check]:
    """A column whose values chose the groups: all shown cells hold together, however it is
    asked.
    """
    return {
        f"{name}: as it is shown": at_once(name, then, simultaneous=False),
        f"{name}: all at once": at_once(name, then),
    }


SINGLE = ("n", "units", "different", "s", "r", "m", "w", "v", "sd", "vs", "sds", "h")
COLUMNS = (*SINGLE, "c", "cs", "k", "slope", "intercept", "r2", "both", "mean_x", "mean_y")
UP = {"up: at an edge": at_edge("up", 1), "up: all at once": at_once("up")}
ALL = {stated: check for name in COLUMNS for stated, check in both(name).items()} | UP
CLIPPED = {"clipped below": clipped(0), "clipped above": clipped(2)}
LEFT_OUT = {"left out, together": left_out_together, "left out, said": left_out_said}


def above_52(value: float) -> bool:
    return value > 52


def agreed(answer: Answer) -> Answer:
    return answer.agreeing(total=world("total").draw(), name="n")


CASES: dict[str, Group] = {
    "laplace": Group(30, ALL),
    "gaussian": Group(24, ALL),
    "drawn": Group(16, ALL),
    "replaced": Group(16, ALL),
    "rows": Group(20, {**ALL, "different: average": average(2, each, "different")}),
    "cumulative": Group(
        30,
        {f"up: at edge {i}": at_edge("up", i) for i in (0, 17, 39)}
        | {"up: all at once": at_once("up"), "up: rising, all at once": rising_at_once("up")},
    ),
    "cumulative, gaussian": Group(
        30,
        {f"up: at edge {i}": at_edge("up", i) for i in (0, 17, 39)}
        | {"up: all at once": at_once("up"), "up: rising, all at once": rising_at_once("up")},
    ),
    "cube": Group(
        14,
        {
            f"{name} by {', '.join(keys)}{', at once' if at else ''}": in_table(
                name, *keys, simultaneous=at
            )
            for name in ("n", "s", "m")
            for keys in ((), ("g",), ("y",), ("g", "y"))
            for at in (False, True)
        }
        | {f"{name}: all at once": at_once(name) for name in ("s", "m")}
        | {
            "n: all at once, adds up": at_once_and_adding("n"),
            "n: consistent, adds up": at_once_and_adding("n", Answer.consistent),
        },
    ),
    "rollup": Group(
        40,
        {"n of all": in_table("n"), "s by g": in_table("s", "g")}
        | {f"{name}: all at once": at_once(name) for name in ("n", "s")},
    ),
    "cube, cut": Group(40, chosen("n")),
    "quantiles": Group(
        60, {f"{name}: as released": each(name) for name in ("q", "low", "high", "twice")}
    ),
    "percentiles": Group(20, both("q_25") | both("q_75")),
    "computed": Group(60, both("r") | both("part") | both("d")),
    "equal": Group(
        60,
        both("n")
        | {
            f"top {k}, {stated}": check
            for k in (1, 5)
            for stated, check in chosen("n", lambda answer, k=k: answer.top(k, "n")).items()
        }
        | {"s of top 3 by n: each cell": each("s", lambda answer: answer.top(3, "n"))}
        | {
            "top of top": at_once(
                "s", lambda answer: answer.top(10, "n").top(2, "s"), simultaneous=False
            )
        }
        | {
            "top of an average": average(
                2, at_once, "n", lambda answer: answer.top(2, "n"), simultaneous=False
            )
        }
        | {
            "average of tops": average(
                2, at_once, "n", before=lambda answer: answer.top(20, "n"), simultaneous=False
            )
        }
        | {f"surely among the largest {k}": surely(k) for k in (1, 3)}
        | {
            "n: not negative": each("n", Answer.non_negative),
            "n: whole": each("n", Answer.rounded),
        },
    ),
    "first": Group(100, chosen("n") | both("s")),
    "five": Group(100, chosen("n") | both("s")),
    "last": Group(100, chosen("n") | both("s")),
    "offset": Group(100, chosen("n") | both("s")),
    "having": Group(100, chosen("n") | {"s: each cell": each("s")}),
    "both": Group(100, chosen("n") | chosen("s")),
    "hidden": Group(60, both("n") | chosen("r") | both("m")),
    "keys": Group(100, both("n")),
    "chosen quantile": Group(60, {"q: as released": each("q")}),
    "named": Group(60, both("n") | both("s") | CLIPPED | {"withheld": withheld} | LEFT_OUT),
    "named, drawn": Group(60, both("n") | {"withheld": withheld}),
    "named, filtered": Group(60, both("rare") | {"withheld": withheld}),
    "named, cut": Group(60, chosen("n") | both("s") | {"withheld, by its label": withheld_label}),
    "windows": Group(
        80,
        {
            f"{name}: one cell": cell(name, 3)
            for name in ("share", "running", "change", "growth", "smooth", "place", "before")
        }
        | {
            f"{name}: all at once": at_once(name)
            for name in ("share", "running", "change", "most", "place", "half", "means")
        },
    ),
    "windows, gaussian": Group(
        80, {f"{name}: one cell": cell(name, 2) for name in ("share", "running", "r")}
    ),
    "windows, cut": Group(
        60,
        {
            f"{name}: as it is shown": at_once(name, simultaneous=False)
            for name in ("n", "share", "running", "place")
        },
    ),
    "windows, chosen": Group(
        60,
        {f"{name}: of the shown": over_chosen(name, above_52) for name in ("total", "share")},
    ),
    "outer": Group(80, {name: each(name) for name in ("mean", "most", "total", "share")}),
    "outer, chosen": Group(60, {"mean": over_chosen("mean", above_52)}),
    "grouped": Group(
        60,
        {"n: agreeing": each("n", agreed), "n: agreeing, all at once": at_once("n", agreed)}
        | {
            "m: average": average(3, each, "m"),
            "n: average, all at once": average(2, at_once, "n"),
        },
    ),
    "grouped, gaussian": Group(
        60,
        {"n: average": average(2, each, "n"), "m: average, all at once": average(3, at_once, "m")},
    ),
    "total": Group(100, both("n")),
    "within": Group(100, LEFT_OUT),
    "learned rows": Group(
        100,
        {
            "beyond the limit": learned_rows,
            "rows beyond the limit": learned_rows_beyond,
            "rows said to be beyond": learned_said,
        },
    ),
    "learned rows, one each": Group(100, {"rows said to be beyond": learned_said}),
    "learned rows, low in their cell": Group(
        100,
        {"rows beyond the limit": learned_rows_beyond, "rows said to be beyond": learned_said},
    ),
    "learned rows of few": Group(
        100,
        {"beyond the limit, at most": learned_rows, "rows beyond the limit": learned_rows_beyond},
    ),
    "learned bounds": Group(
        30, {"outside of the bounds": learned_bounds, "said to be outside": learned_said}
    ),
    "learned bounds of few": Group(30, {"outside of the bounds, at most": learned_bounds}),
}


def seldom(result: list[bool], level: float = 0.95) -> bool:
    """Whether these hold so seldom that a statement at this level would do so with a chance below
    ALARM.
    """
    return bool(binom.cdf(sum(result), len(result), level) < ALARM)


@pytest.mark.parametrize("name", CASES)
def test_what_is_stated_holds(name: str) -> None:
    group = CASES[name]
    for stated, result in tried(name, group.checks, group.releases).items():
        assert result, stated
        assert not seldom(list(result)), f"{stated}: {sum(result)} of {len(result)}"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_what_is_stated_holds_in_a_larger_sample(name: str) -> None:
    group = CASES[name]
    for stated, result in tried(name, group.checks, LARGER * group.releases).items():
        assert not seldom(list(result)), f"{stated}: {sum(result)} of {len(result)}"


@pytest.mark.parametrize(
    "name", ["equal", "first", "windows", "learned rows", "within", "cumulative", "cube"]
)
def test_what_does_not_hold_is_seen(name: str) -> None:
    """The twin: intervals at 60 % (at 50 % where a draw gives one), the level of one group for a
    group that noise has chosen, half of the error stated with a limit, and every estimated share
    above 1 % where nothing is left out.
    """
    place = world(name)

    def narrow(_: Any, answer: Answer) -> list[bool]:
        unmarked = simulation.unmarked(place.finish(answer))
        return list(each("n")(place, unmarked))

    twins: dict[str, dict[str, Check]] = {
        "equal": {"n": each("n", confidence=0.6)},
        "first": {"n": narrow},
        "windows": {
            "running": cell("running", 3, confidence=0.5),
            "share": cell("share", 3, confidence=0.5),
            "change": cell("change", 3, confidence=0.5),
        },
        "learned rows": {"beyond": simulation.few_cells},
        "within": {"left out": simulation.left_out_claimed},
        "cumulative": {"up": at_edge("up", 17, confidence=0.6)},
        "cube": {
            "n": in_table("n", "g", confidence=0.5),
            "s": in_table("s", confidence=0.5),
        },
    }
    for result in tried(name, twins[name], 100).values():
        assert seldom(list(result))


def test_estimates_of_tables_are_unbiased_and_consistent_counts_are_not() -> None:
    """Of the cells where nobody is: the sum of their estimates is normal, with 0 in the middle, as
    Student's test says; no consistent count is below the 0 that is exact, and many are above.
    """
    place = world("cube")
    answers = [place.draw() for _ in range(60)]
    is_empty = place.truth.table("g", "y")["n"] == 0
    empty = np.array([estimates(a).table("g", "y")["n"][is_empty] for a in answers])
    assert ttest_1samp(empty.sum(axis=1), 0).pvalue > ALARM
    assert ttest_1samp(np.maximum(empty, 0).sum(axis=1), 0).pvalue < ALARM  # the twin
    counts = np.array([a.consistent().table("g", "y")["n"][is_empty] for a in answers[:3]])
    assert counts.min() == 0
    assert counts.max() > 0


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("learned rows", "; about "),
        ("learned rows of few", "; at most about "),
        ("learned bounds", "; about "),
        ("learned bounds of few", "; at most about "),
    ],
)
def test_both_forms_of_what_is_said_beside_a_limit_are_tried(name: str, form: str) -> None:
    """In one of eighty draws at least: about one draw in five has the rarer form."""
    assert any(form in simulation.learned(world(name), world(name).draw())[1] for _ in range(80))


# completeness


def test_every_kind_of_column_and_every_aggregate_is_tried() -> None:
    kinds = {
        column.kind for name in CASES for column in world(name).finish(world(name).truth).columns
    }
    assert kinds == set(KINDS)
    assert set(AGGREGATE_KINDS) <= set(KINDS)


def test_every_world_is_tried() -> None:
    assert set(CASES) == set(simulation.WORLDS)


HELPERS = {"non_negative", "rounded", "top", "agreeing", "table", "consistent", "rising"}
"""Ways to make an answer of an answer, beside `merge`: all of them are among the cases."""

CLAUSES = {
    *("keys", "columns", "having", "having_text", "order", "limit", "offset"),
    *("qualify", "qualify_text", "outer", "grouping", "grouping_shown"),
}
"""What finishing does to an answer, likewise."""


def test_every_way_to_make_an_answer_of_an_answer_is_tried() -> None:
    answers = {
        name
        for name, method in inspect.getmembers(Answer, inspect.isfunction)
        if method.__annotations__.get("return") == "Answer"
    }
    assert answers - {"from_json"} == HELPERS
    assert {field.name for field in fields(PostProcessing)} == CLAUSES


NO_CLAIM = ""
TEXTS: dict[str, dict[str, str]] = {
    "answers/render/footnote_texts": {
        "± covers the noise{apart} ({levels})": "laplace",
        "{level}, each cell": "laplace",
        ", not what the limits left out": NO_CLAIM,
        (
            "{whose} for all shown groups at once ({level}), because the same noisy values chose "
            "them"
        ): "first",
        "± covers the noise{apart}; it holds": "first",
        "for {names} it holds": "five",
        "{name} at {level}": "quantiles",
        "{name} has no interval, because it chose the groups": NO_CLAIM,
        "{name} was released without an interval": NO_CLAIM,
        "about {share} of rows lie {side} the bounds of {name}": "named",
        "at most {most} of rows lie {side} the bounds of {name}": "named",
        "about {share} of rows are in groups too small to be shown": "named",
        "at most {most} of rows are in groups too small to be shown": "named",
        "these shares hold together with {level} confidence": "named",
        "about {share} of the counted rows are in groups too small to be named": "named, cut",
        "all rows are in groups too small to be shown": NO_CLAIM,  # where none is shown: no noise
        "all counted rows are in groups too small to be named": NO_CLAIM,  # likewise
        "{where} tells the {count} rules": NO_CLAIM,
        "{where} tells the rule": NO_CLAIM,
        "All rules": NO_CLAIM,
        " more was spent to find limits: ": NO_CLAIM,
        " more was spent to answer first: ": NO_CLAIM,
        ": the cost is that of all": NO_CLAIM,
        "cost {cost}": NO_CLAIM,
        "{left} left": NO_CLAIM,
        "{letter} = {value}": NO_CLAIM,
        " of {limit}": NO_CLAIM,
        "the whole budget is ε = {epsilon} at δ = {delta}": NO_CLAIM,
        "stored answer of {date}: free (first cost {cost})": NO_CLAIM,
        "negative counts, and negative sums of non-negative values, are shown as 0": "equal",
        "counts are rounded to whole numbers": "equal",
        (
            "counts are shown as whole numbers that add up from table to table; the estimates "
            "before rounding are unbiased"
        ): "cube",
        (
            "counts are shown as whole numbers from 0 on that add up from table to table, by "
            "constrained least squares: where they are small they are too large on average, and "
            "± is that of the unbiased estimates"
        ): "cube",
        (
            "cumulative counts are the nearest that never fall and are not below 0; the unbiased "
            "ones may fall"
        ): "cumulative",
        (
            "the groups of {name} and {origin} were reconciled by least squares, weighted by the "
            "inverse variances"
        ): "grouped",
        "totals that were released separately (all groups together are now {total})": "grouped",
        "a public total": NO_CLAIM,
        "the weighted average of {n} releases of the same question": "grouped",
        "shown are the {count} groups with the largest {name}": NO_CLAIM,
        "shown is the group with the largest {name}": NO_CLAIM,
        (
            "with {level} confidence, the {count} largest{among} include at least {sure} of them"
        ): "equal",
        "with {level} confidence, it is the largest{among}": "equal",
        " of the groups that were named": NO_CLAIM,
        "another group may be larger": NO_CLAIM,
        "no group is shown": NO_CLAIM,
        "shown are groups with {condition}": NO_CLAIM,
        "windows and shares are of the groups that are shown, without withheld ones": NO_CLAIM,
        "aggregates are of the released groups": NO_CLAIM,
        "aggregates are of the groups that are shown, without withheld ones": NO_CLAIM,
        "… and {more} more rows": NO_CLAIM,
        ": to_pandas() has all of them": NO_CLAIM,
    },
    "answers/render/plot_answer": {
        "{} intervals, {}": "laplace",
        "each cell": "laplace",
        "all of them at once": "equal",
        "the {} largest of {} groups": NO_CLAIM,
        "density (count per unit)": NO_CLAIM,
        "groups without {} are left out": NO_CLAIM,
    },
    "answers/cards/card_record": {
        "{}: ± {} at 95 %, {}": "laplace",
        "each cell": "laplace",
        "all shown groups at once": "first",
        "released with an interval at {}": "quantiles",
        "no interval": NO_CLAIM,
        "by {}: {}": "cube",
        "{}: the interval differs from edge to edge": NO_CLAIM,
        "{}: the interval depends on the released values": NO_CLAIM,
        "This release cost {}.": NO_CLAIM,
        (
            "All releases about the same dataset together stay within the budget, whatever "
            "anybody asks."
        ): NO_CLAIM,
    },
    "sql/postprocess": {
        "across {}": NO_CLAIM,
        "shown are {}{}": NO_CLAIM,
        "at most {} groups": NO_CLAIM,
        " after the first {}": NO_CLAIM,
    },
    "tables/declare/learned_limits": {
        "; about {} ± {} {} {}": "learned rows",
        "; at most about {} {} {}": "learned rows of few",
        "of those with up to {} {}": "learned rows",
        "of them": "learned rows",
        "have more": "learned rows",
        ", with {} of their {} beyond the limit": "learned rows",
        "at most {}": "learned rows",
        "at least {}": "learned rows",
        "about {} ± {} {}": "learned bounds",
        "; twice the limit would likely add more noise than it saves": NO_CLAIM,
        "; with twice the limit, groups would likely need more people to be shown": NO_CLAIM,
        "; bounds twice as wide would likely add more noise than they save": NO_CLAIM,
        "of rows {}": "learned bounds",
        "between {} and {}": "learned bounds",
        "from {} on": "learned bounds",
        "up to {}": "learned bounds",
        "of all rows": "learned bounds",
        "are below": "learned bounds",
        "are above": "learned bounds",
        "are outside, on each side": "learned bounds of few",
        "a default: too few people to learn it from, and what lies beyond it is unknown": NO_CLAIM,
    },
    "tables/plan/min_max": {
        (
            "the {} {} is a quantile: about {} rows lie {} it, and at least one with probability {}"
        ): "quantiles"
    },
    "tables/plan/explain_groups": dict.fromkeys(
        (
            "[True, False]",
            "a group is shown from about",
            "groups  of {} are shown half of the time, of {} with 99 %",
            "groups of less than about {} are hardly ever shown; {}",
            "count each {} in fewer groups, max_groups={}",
            "list the periods, CALENDAR({}, 'month', DATE '2026-01-01', DATE '2026-12-31')",
            "name the groups, WHERE {} or keys={{}}",
            "{} BETWEEN {} AND {}",
            "{} IN ({})",
            "['first', 'second']",
            "no group was large enough",
            "or spend more, {}={}",
            "select  {}",
            "the noisy count of a group, if it is large enough",
            "votes with Gaussian noise, if there are enough",
            "votes, by the best rule of selection",
            "to show smaller ones: ",
            "warning {}",
            "{} different {}",
            "{} row{}",
            "{} {} on",
        ),
        NO_CLAIM,  # of the mechanism, whose chances are tried by arithmetic
    ),
    "tables/plan/explain": {
        "{} clipped to [{}, {}]": NO_CLAIM,
        "missing values of {} (null, NaN) are skipped": NO_CLAIM,
        "{} clipped to {} in the sub-query{}": NO_CLAIM,
        "{} per {}": NO_CLAIM,
        "{} of rows, beyond the limit of {}, {}": "learned rows",
        "are not counted": NO_CLAIM,
        "count only as far as they spread over groups": NO_CLAIM,
        "{} of pairs of {} and group {}: counts are spread over them": "learned rows",
        "lie beyond the limit of {} per {}": NO_CLAIM,
        "1 group": NO_CLAIM,
        "{} groups": NO_CLAIM,
        "{} lie {} the bounds of {} [{}, {}]": "learned bounds",
        "rows beyond the limit of {} per {} were not measured: check_limits does": NO_CLAIM,
        "cost    {}": NO_CLAIM,
        "unit    {}, neighbours by {}": NO_CLAIM,
        "rule    {}": NO_CLAIM,
        "error   {} {}": NO_CLAIM,
        "1 row": NO_CLAIM,
        "{} rows": NO_CLAIM,
        "{} of {}": NO_CLAIM,
        "{} within the bounds of {}": NO_CLAIM,
        "groups follow from the question, and each is shown: {}": NO_CLAIM,
        "groups follow from the declaration, and each is shown: {}": NO_CLAIM,
        "a {} is counted in at most {}: {}": NO_CLAIM,
        "missing values of {} count as its lower bound": NO_CLAIM,
        "each row is taken as a different person": NO_CLAIM,
        "each {} has one row here, and counts once": NO_CLAIM,
        "each {} has at most {} here": NO_CLAIM,
        "rows without a {} are skipped": NO_CLAIM,
        "a {} in more than {} counts as {}, split over them{}": NO_CLAIM,
        "of a {} with more than {} different values, {} count": NO_CLAIM,
        "rows with other keys than the public ones are left out": NO_CLAIM,
        "{} combinations of {} exist; rows with other ones are left out": NO_CLAIM,
        "a noisy number of different values below 0 is shown as 0": NO_CLAIM,
        "moves it by at most {} ({})": NO_CLAIM,
        "moves them together by at most {} {} ({})": NO_CLAIM,
        "noise   {}: {}; one {} {}": NO_CLAIM,
        "noise   {}: chosen by the exponential mechanism": NO_CLAIM,
        "shared  cells serve {}: errors are {} of those with noise on each component": NO_CLAIM,
        "{} to {}": NO_CLAIM,
        "{} of a {} with more count, drawn at random{}": NO_CLAIM,
        "a {} in many groups votes for them as for {}{}": NO_CLAIM,
        (
            "a {} with more than {} counts as {} in one group; spread over groups, as fewer in "
            "each{}"
        ): NO_CLAIM,
        "a {} with more than {} counts as {}{}": NO_CLAIM,
    },
    "tables/aggregates/averages": dict.fromkeys(
        (
            " by {}",
            "WEIGHTED_AVG({of}, {by})",
            "rows without a value or without a weight are left out of the weighted mean",
            "sf.mean('age', weight='visits')",
            "the mean of the clipped values",
            "the mean of the clipped values, each with its weight",
            "weighted mean",
            "weighted sum",
            "{} clipped to [{}, {}] before it is weighted",
        ),
        NO_CLAIM,
    ),
    "tables/aggregates/covariances": dict.fromkeys(
        (
            " where {}",
            "COVAR_POP({of}, {by})",
            "COVAR_SAMP({of}, {by})",
            "covariance of the rows",
            "products {}{}",
            "rows without one of the two values are left out of aggregates of the two",
            "sf.covar('age', 'spend')",
            "sf.covar('age', 'spend', sample=True)",
            "the covariance of two columns, of the rows themselves",
            "the covariance times n/(n − 1)",
        ),
        NO_CLAIM,
    ),
    "session/checked_limit": {  # its claims are tried in tests/session/test_check_limits.py
        (
            "about {} of rows, beyond the limit of {} per {}, are not counted (at least {})"
        ): NO_CLAIM,
        "rows beyond the limit of {} per {}: too few to tell from none": NO_CLAIM,
        "limit of rows per {}": NO_CLAIM,
        "cost nothing": NO_CLAIM,
        "cost {}": NO_CLAIM,
    },
    "session/learning": {
        "cost nothing": NO_CLAIM,
        "cost {}": NO_CLAIM,
        "{} clipped to [{}, {}]{}": "learned bounds",
        "a {} counts for at most {} {}{}": "learned rows",
        "groups by {}": NO_CLAIM,
        "learned limits of {}": NO_CLAIM,
    },
}
"""Every text that the modules around answers can print, by module, and the world in which its claim
is tried. What claims nothing about chance has none.
"""


@cache
def texts(module: str) -> frozenset[str]:
    """The texts of a module that are read by people: with a space, and neither docstrings nor parts
    of a refusal. Braces stand for what is put in.
    """
    tree = ast.parse((Path(sfumato.__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    left_out = {
        id(inner) for node in ast.walk(tree) for part in _unread(node) for inner in ast.walk(part)
    }
    result = {
        text
        for node in ast.walk(tree)
        if id(node) not in left_out and (text := _text(node)) is not None
    }
    return frozenset(
        text for text in result if " " in text.strip() and any(letter.isalpha() for letter in text)
    )


def _unread(node: ast.AST) -> Iterator[ast.AST]:
    """Texts that stand alone (docstrings), refusals, and the pieces of a text with braces."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "RefusalText":
        yield node
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@pytest.mark.parametrize("module", TEXTS)
def test_every_text_is_tried_or_claims_nothing(module: str) -> None:
    assert texts(module) == set(TEXTS[module])
    assert {claim for claim in TEXTS[module].values() if claim} <= set(CASES)


def test_every_module_that_speaks_of_answers_is_among_them() -> None:
    """Whatever prints a probability or a share is in the table; here are those that only lay it
    out, and what is expected before a release.
    """
    sign = re.compile(r"[}\d] %|± |probability|\babout \{")
    speaking = {
        module
        for module in _modules("answers", "sql", "session", "tables")
        if any(sign.search(text) for text in texts(module))
    }
    others = {
        "answers/render/format_digits",
        "answers/render/tabulate",
        "answers/render/render_html",
        "answers/cards/card_html",
        "tables/plan/query_plan",
        "tables/query/question_options",
        "sql/sql_plan",
        "session/pending_plan",
    }
    assert speaking - others <= set(TEXTS)


def _modules(*packages: str) -> list[str]:
    root = Path(sfumato.__file__).parent
    return [
        str(path.relative_to(root).with_suffix(""))
        for package in packages
        for path in sorted((root / package).rglob("*.py"))
    ]
