"""Say from which size on a group of private keys is shown, and what shows smaller groups.

Everything here follows from the plan, so it can be said before anything is paid for.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ...exact.numbers import text
from ...mechanisms import CountThreshold
from ..expr.expressions import col
from ..expr.value_sets import MOST_VALUES
from .choose_selection import HALF, GroupSelection

if TYPE_CHECKING:
    from .query_plan import Plan

NEARLY = Fraction(99, 100)
SHOWN_FROM = "a group is shown from about"
NO_GROUP = "no group was large enough"
"""How the rules begin that an answer prints below its table."""

MANY = 1000
"""A group that needs more people, or rows, than this gets a warning."""

_DATES = ("date", "timestamp")
_EXAMPLES = {"integer": "[1, 2]", "bool": "[True, False]", "float": "[1.5, 2.5]"}


def explain_shown_from(plan: Plan) -> str:
    """Return the rule of an answer: from which size on a group is shown; "" for public keys."""
    selection = plan.calibration.selection
    if selection is None:
        return ""
    return f"{SHOWN_FROM} {_size(plan, selection, HALF)} on"


def explain_selection(plan: Plan) -> list[str]:
    """Return the lines of a plan about its private keys: sizes, mechanism and warnings."""
    selection = plan.calibration.selection
    if selection is None:
        return []
    half, nearly = (_size(plan, selection, level) for level in (HALF, NEARLY))
    return [
        f"groups  of {half} are shown half of the time, of {nearly} with 99 %",
        f"select  {_selecting_rule(selection)}",
        *(f"warning {warning}" for warning in warn_of_size(plan)),
    ]


def _selecting_rule(selection: GroupSelection) -> str:
    """Say what decides which groups are shown."""
    if selection.place is not None:
        return "the noisy count of a group, if it is large enough"
    if isinstance(selection.mechanism, CountThreshold):
        return "votes with Gaussian noise, if there are enough"
    return "votes, by the best rule of selection"


def warn_of_size(plan: Plan) -> tuple[str, ...]:
    """Return a warning if a group needs very many people to be shown, or more than there are."""
    selection = plan.calibration.selection
    if selection is None or selection.half <= min(MANY, plan.calibration.bounding.table_rows):
        return ()
    size = _size(plan, selection, HALF)
    return (f"groups of less than about {size} are hardly ever shown; {_remedies(plan)}",)


def explain_no_group(plan: Plan) -> str:
    """Return what to do after an answer without a group; empty if keys are public."""
    if plan.calibration.selection is None:
        return ""
    return f"{NO_GROUP}; {_remedies(plan)}"


def _size(plan: Plan, selection: GroupSelection, level: Fraction) -> str:
    size = selection.size_named_with(level)
    if selection.counts_rows:
        return f"{size:,} row{'s' if size > 1 else ''}"
    unit = plan.query.rows.declaration.unit
    if not unit:
        return f"{size:,} row{'s' if size > 1 else ''}"
    return f"{size:,} different {plan.query.rows.declaration.unit_name}"


def _listing_condition(plan: Plan, key: str, kind: str) -> str:
    """Return a condition that makes a key public: between its declared bounds if these hold few
    whole numbers, else a list.
    """
    name, ends = col(key).text, plan.query.rows.ranges.get(key)
    if kind == "integer" and ends is not None and ends[1] - ends[0] < MOST_VALUES:
        return f"{name} BETWEEN {text(ends[0])} AND {text(ends[1])}"
    examples = _EXAMPLES.get(kind, "['first', 'second']").strip("[]")
    return f"{name} IN ({examples})"


def _remedies(plan: Plan) -> str:
    """List what shows smaller groups, each as text that pastes."""
    query, bounding = plan.query, plan.calibration.bounding
    kinds = {key: query.rows.schema[key].kind for key in query.keys}
    dated = [key for key, kind in kinds.items() if kind in _DATES]
    listed = [key for key in query.keys if key not in dated]
    ways = []
    if listed:
        domains = ", ".join(
            f"'{key}': {_EXAMPLES.get(kinds[key], repr(['first', 'second']))}" for key in listed
        )
        conditions = " AND ".join(_listing_condition(plan, key, kinds[key]) for key in listed)
        ways.append(f"name the groups, WHERE {conditions} or keys={{{domains}}}")
    ways += [
        f"list the periods, CALENDAR({key}, 'month', DATE '2026-01-01', DATE '2026-12-31')"
        for key in dated
    ]
    if bounding.groups > 1 and bounding.unit:
        unit, fewer = query.rows.declaration.unit_name, max(1, bounding.groups // 4)
        ways.append(f"count each {unit} in fewer groups, max_groups={fewer}")
    name, value = next(iter(plan.promise.parameters.items()))
    ways.append(f"or spend more, {name}={text(2 * value)}")
    return "to show smaller ones: " + "; ".join(ways)
