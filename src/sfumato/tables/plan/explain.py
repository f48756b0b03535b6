"""Describe a plan in sentences: the rules that shape an answer, its noise, cost and error.

Every sentence is public: it follows from the query, the declaration and the budget, not from data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...exact.numbers import text
from ...guarantees import Guarantee
from ...guarantees.meaning.literature import delta_warning
from ...mechanisms import CountThreshold, Gaussian
from ..aggregates.component import Component
from ..expr.expressions import ColumnRef
from ..marginals.reconciled_noise import ReconciledNoise
from ..query.group_keys import group_limit
from ..query.join_steps import Join, Match, Union
from ..query.per_unit import PerUnit
from ..query.stages import Query, Rows, RowStep
from . import min_max
from .components import learned_column
from .explain_groupings import explain_tables
from .explain_groups import explain_selection, explain_shown_from

if TYPE_CHECKING:
    from .query_plan import Plan


_GAIN = 0.995  # an error below this part of the one before is said


def explain_rules(plan: Plan) -> tuple[str, ...]:
    """Return what a release does to the data before it counts, one sentence for each rule."""
    declared, bounding = plan.query.rows.declaration, plan.calibration.bounding
    rules = []
    rows, note = _count_rows(bounding.rows), declared.learned.limit_note("max_rows")
    if not declared.unit:
        rules.append("each row is taken as a different person")
    elif plan.query.rows.once:
        rules.append(f"each {declared.unit_name} has one row here, and counts once")
    elif plan.query.rows.most and plan.query.rows.most <= bounding.rows:
        rules.append(f"each {declared.unit_name} has at most {rows} here")
    elif bounding.truncation:
        rules.append(f"{rows} of a {declared.unit_name} with more count, drawn at random{note}")
    elif bounding.rule == "root":
        rules.append(
            f"a {declared.unit_name} with more than {rows} counts as {rows} in one group; "
            f"spread over groups, as fewer in each{note}"
        )
    else:
        rules.append(f"a {declared.unit_name} with more than {rows} counts as {rows}{note}")
    if declared.unit:
        rules.append(f"rows without a {declared.unit_name} are skipped")
    rules += dict.fromkeys(
        rule for step in plan.query.rows.steps for rule in getattr(step, "rules", ())
    )
    rules += dict.fromkeys(_explain_inner_clipping(plan.query.rows))
    rules += _explain_group_limit(plan)
    rules += dict.fromkeys(
        _explain_clipping(component) + _learned_note(component, plan.query.rows)
        for component in plan.components
        if component.form in ("value", "centred", "point", "tree")
        and component.pair is None  # the sums of both columns say how they are clipped
    )
    beyond = (
        min_max.explain_min_max(plan.components[block.places[0]], noise[0], bounding.bits)
        for block, noise in zip(plan.calibration.blocks, plan.calibration.noise, strict=True)
    )
    rules += [rule for rule in beyond if rule]
    if any(component.form == "distinct" for component in plan.components) and declared.unit:
        rules.append(
            f"of a {declared.unit_name} with more than {bounding.rows} different values, "
            f"{bounding.rows} count"
        )
    if any(component.form == "distinct" for component in plan.components):
        rules.append("a noisy number of different values below 0 is shown as 0")
    rules += dict.fromkeys(
        _explain_nulls(component)
        for component in plan.components
        if component.of is not None and component.form != "side"
    )
    rules += explain_groups(plan.query)
    if shown_from := explain_shown_from(plan):
        rules.append(shown_from)
    if large_delta := delta_warning(plan.promise.parameters.get("delta", 0), declared.most_units):
        rules.append(large_delta)
    return tuple(rules)


def explain_groups(query: Query) -> tuple[str, ...]:
    """Say where the groups come from, and which rows are in none of them."""
    if not query.keys:
        return ()
    counts = {
        name: f"{len(domain)} of {name}"
        for name, domain in zip(query.keys, query.domains, strict=True)
        if domain
    }
    implied = {name: values for name in counts if (values := query.implied(name)) is not None}
    from_question = [counts[name] for name, values in implied.items() if not values.stated]
    within_bounds = [
        f"{counts[name]} within the bounds of {' and '.join(sorted(values.stated))}"
        for name, values in implied.items()
        if values.stated
    ]
    rules = []
    if from_question:
        rules.append(
            f"groups follow from the question, and each is shown: {', '.join(from_question)}"
        )
    if within_bounds:
        rules.append(
            f"groups follow from the declaration, and each is shown: {', '.join(within_bounds)}"
        )
    for each in query.combinations:
        names, paths = [query.keys[i] for i in each.places], len(each.paths)
        rules.append(
            f"{paths:,} combinations of {' and '.join(names)} exist; rows with other ones are "
            "left out"
        )
    if len(from_question) < len(counts):
        rules.append("rows with other keys than the public ones are left out")
    return tuple(rules)


def _explain_group_limit(plan: Plan) -> list[str]:
    """Say in how many groups a unit counts, where the noise or the selection depends on it."""
    declared, limit = plan.query.rows.declaration, group_limit(plan.query)
    counts_units = any(component.form == "unit" for component in plan.components)
    if limit is None or not plan.query.keys:
        return []
    groups = "1 group" if limit.count == 1 else f"{limit.count} groups"
    if limit.is_declared:
        note = declared.learned.limit_note("max_groups")
        rule = (
            f"a {declared.unit_name} in more than {groups} counts as "
            f"{limit.count}, split over them{note}"
        )
        is_learned = "max_groups" in dict(declared.learned.limits)
        ballot_rule = (
            f"a {declared.unit_name} in many groups votes for them as for {limit.count}"
            f"{declared.learned.limit_note('max_groups')}"
        )
        votes = [ballot_rule] if is_learned and plan.needs_ballot else []
        return [*([rule] if counts_units else []), *votes]
    if counts_units or plan.needs_ballot:
        return [f"a {declared.unit_name} is counted in at most {groups}: {limit.why}"]
    return []


def explain_left_out(plan: Plan) -> tuple[str, ...]:
    """Return what learned limits leave out of an answer, where learning excluded 0.

    Learning looked at all rows of the table, so nothing is said of a part of them.
    """
    rows, learned = plan.query.rows, plan.query.rows.declaration.learned
    is_part = any(not isinstance(step, RowStep) or step.column is None for step in rows.steps)
    if is_part or (plan.query.keys and plan.query.public):
        return ()
    notes = [] if rows.once else [*_explain_rows_beyond(plan), *_explain_groups_beyond(plan)]
    columns = dict.fromkeys(
        name
        for component in plan.components
        if component.form in ("value", "centred") and (name := learned_column(component, rows))
    )
    for name in columns:
        low, high = rows.declaration.ranges[name]
        notes += [
            f"{share} lie {side} the bounds of {name} [{text(low)}, {text(high)}]"
            for side, share in learned.rows_outside(name).items()
        ]
    return tuple(notes)


def says_rows_beyond(plan: Plan) -> bool:
    """Tell whether a share of all rows beyond the limit of rows is about the numbers of a plan: it
    sums rows of the whole table, and no public keys leave any out.
    """
    query, bounding = plan.query, plan.calibration.bounding
    is_part = any(not isinstance(step, RowStep) or step.column is None for step in query.rows.steps)
    return (
        not is_part
        and not (query.keys and query.public)
        and not query.rows.once
        and bounding.rule != "root"
        and any(component.form not in ("unit", "distinct") for component in plan.components)
    )


def _explain_rows_beyond(plan: Plan) -> list[str]:
    """Say how many rows lie beyond a learned limit, where components sum rows. Under the rule
    `root` a unit may count for more rows than its limit, if they are in several groups.
    """
    bounding, declared = plan.calibration.bounding, plan.query.rows.declaration
    share = declared.learned.least_beyond("max_rows")
    if not share or all(component.form in ("unit", "distinct") for component in plan.components):
        return []
    count = "count only as far as they spread over groups"
    if bounding.rule != "root":
        count = "are not counted"
    limit = f"{bounding.rows} per {declared.unit_name}"
    return [f"{share} of rows, beyond the limit of {limit}, {count}"]


def _explain_groups_beyond(plan: Plan) -> list[str]:
    """Say how many groups of units lie beyond a learned limit, where units are counted in groups:
    votes change no number. The limit was learned for groups by columns of the table.
    """
    query, declared = plan.query, plan.query.rows.declaration
    share, limit = declared.learned.least_beyond("max_groups"), group_limit(query)
    is_computed = any(getattr(step, "column", None) in query.keys for step in query.rows.steps)
    if not share or limit is None or not limit.is_declared or is_computed:
        return []
    counts_units = any(component.form == "unit" for component in plan.components)
    if not counts_units or set(query.keys) != set(declared.learned.keys):
        return []
    unit, most = declared.unit_name, "1 group" if limit.count == 1 else f"{limit.count} groups"
    beyond = f"lie beyond the limit of {most} per {unit}"
    return [f"{share} of pairs of {unit} and group {beyond}: counts are spread over them"]


def explain_unmeasured(plan: Plan) -> tuple[str, ...]:
    """Return the limits of which nobody measured what they leave out."""
    rows, limit = plan.query.rows, plan.calibration.bounding.rows
    has_more = not 0 < rows.most <= limit
    is_limited = rows.declaration.unit and not rows.once and has_more
    if not is_limited or "max_rows" in dict(rows.declaration.learned.limits):
        return ()
    unit = rows.declaration.unit_name
    return (f"rows beyond the limit of {limit} per {unit} were not measured: check_limits does",)


def explain(plan: Plan) -> str:
    """Describe a plan line by line: the query, its cost, unit, rules, noise and expected errors."""
    query, bounding = plan.query, plan.calibration.bounding
    lines = ["what    " + query.text.replace("\n", "\n        ")]
    lines.append(f"cost    {cost_text(plan.cost)}")
    lines.append(f"unit    {query.rows.declaration.unit_name}, neighbours by {bounding.relation}")
    lines += [f"rule    {rule}" for rule in explain_rules(plan)]
    lines += _explain_noise(plan)
    lines += explain_selection(plan)
    lines += explain_tables(plan)
    lines += [f"error   {name} {plan.about(name, error)}" for name, error in plan.error().items()]
    return "\n".join(lines)


def _explain_noise(plan: Plan) -> list[str]:
    """Return a line for each block, and one that says what sharing cells gains."""
    bounding, unit = plan.calibration.bounding, plan.query.rows.declaration.unit_name
    lines = []
    for block, noise in zip(plan.calibration.blocks, plan.calibration.noise, strict=True):
        component = plan.components[block.places[0]]
        if component.form == "point":
            lines.append(f"noise   {component.name}: chosen by the exponential mechanism")
            continue
        additive = noise[0].noise if isinstance(noise[0], CountThreshold) else noise[0]
        if isinstance(additive, ReconciledNoise):
            additive = additive.draws[0].mechanism
        is_gaussian = isinstance(additive, Gaussian)
        name, norm = ("Gaussian", "L2") if is_gaussian else ("Laplace", "L1")
        if block.cells:
            square = bounding.shared_l2_squared(block.row)
            moved = square**0.5 if is_gaussian else bounding.shared_l1(block.row)
            rows = moved / (block.row << bounding.bits)
            unit_of_rows = "row" if rows == 1 else "rows"
            moves = f"moves them together by at most {rows:.6g} {unit_of_rows} ({norm})"
        else:
            moved = bounding.l2_squared(component) ** 0.5 if is_gaussian else bounding.l1(component)
            moves = f"moves it by at most {moved * float(bounding.step(component)):.6g} ({norm})"
        lines.append(f"noise   {block.about or component.name}: {name}; one {unit} {moves}")
    gains = {
        column.name: gain
        for column, gain in zip(plan.columns, plan.calibration.gains, strict=True)
        if 0 < gain < _GAIN
    }
    if gains and any(block.cells for block in plan.calibration.blocks):
        names = ", ".join(gains)
        least, most = f"{min(gains.values()):.2f}", f"{max(gains.values()):.2f}"
        ratio = least if least == most else f"{least} to {most}"
        lines.append(
            f"shared  cells serve {names}: errors are {ratio} of those with noise on each component"
        )
    return lines


def cost_text(cost: Guarantee) -> str:
    """Return the numbers of a guarantee as text: ε = 0.5, δ = 1e-9."""
    return cost.numbers_text


def _count_rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _explain_clipping(component: Component) -> str:
    if component.rule:
        return component.rule
    assert component.of is not None
    assert component.grid is not None
    return (
        f"{component.of.text} clipped to [{text(component.grid.low * component.grid.step)}, "
        f"{text(component.grid.high * component.grid.step)}]"
    )


def _explain_inner_clipping(rows: Rows) -> Iterator[str]:
    """Yield a rule for each value that a sub-query clips before it totals the rows of a unit."""
    schema, learned = rows.declaration.schema, rows.declaration.learned
    for step in rows.steps:
        if isinstance(step, RowStep):
            if step.column is not None:
                schema = {**schema, step.column: step.expression.type(schema)}
            continue
        if isinstance(step, PerUnit):
            for of, (low, high) in step.clipped(schema):
                column = of.name if isinstance(of, ColumnRef) else ""
                ends = f"[{text(low)}, {text(high)}]"
                yield f"{of.text} clipped to {ends} in the sub-query{learned.bounds_note(column)}"
        elif isinstance(step, Join | Match | Union):
            yield from _explain_inner_clipping(step.right)
        schema = step.schema(schema)


def _learned_note(component: Component, rows: Rows) -> str:
    return rows.declaration.learned.bounds_note(learned_column(component, rows) or "")


def _explain_nulls(component: Component) -> str:
    assert component.of is not None
    if component.missing:
        return component.missing
    if component.filled:
        return f"missing values of {component.of.text} count as its lower bound"
    return f"missing values of {component.of.text} (null, NaN) are skipped"
