"""Describe a plan in sentences: the rules that shape an answer, its noise, cost and error.

Every sentence is public: it follows from the query, the declaration and the budget, not from data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exact.numbers import text
from ...guarantees import Guarantee
from ...mechanisms import Gaussian
from ..aggregates.component import Component
from ..query.stages import Rows
from . import min_max
from .components import learned_column

if TYPE_CHECKING:
    from .query_plan import Plan


_GAIN = 0.995  # an error below this part of the one before is said


def explain_rules(plan: Plan) -> tuple[str, ...]:
    """Return what a release does to the data before it counts, one sentence for each rule."""
    declared, bounding = plan.query.rows.declaration, plan.calibration.bounding
    rules = []
    rows = _count_rows(bounding.rows) + (
        "" if plan.query.rows.once else declared.learned.limit_note("max_rows")
    )
    if not declared.unit:
        rules.append("each row is taken as a different person")
    elif bounding.truncation:
        rules.append(f"at most {rows} of each {declared.unit_name} count")
    elif bounding.norm == "L2" and bounding.grouped:
        rules.append(
            f"a {declared.unit_name} counts for at most {rows} in one group; one with rows in "
            f"many groups is down-weighted in each"
        )
    else:
        rules.append(
            f"a {declared.unit_name} counts for at most {rows}; one with more rows is "
            f"down-weighted to {_count_rows(bounding.rows)} in total"
        )
    if declared.unit:
        rules.append(f"rows without a {declared.unit_name} are left out")
    rules += dict.fromkeys(
        rule for step in plan.query.rows.steps for rule in getattr(step, "rules", ())
    )
    if any(component.form == "unit" for component in plan.components) and bounding.grouped:
        rules.append(
            f"a {declared.unit_name} is counted in at most {bounding.groups} "
            f"groups{declared.learned.limit_note('max_groups')}"
        )
    rules += dict.fromkeys(
        _explain_clipping(component) + _learned_note(component, plan.query.rows)
        for component in plan.components
        if component.form in ("value", "centred", "point", "tree")
    )
    beyond = (
        min_max.explain_min_max(plan.components[block.places[0]], noise[0], bounding.bits)
        for block, noise in zip(plan.calibration.blocks, plan.calibration.noise, strict=True)
    )
    rules += [rule for rule in beyond if rule]
    if any(component.form == "distinct" for component in plan.components) and declared.unit:
        rules.append(
            f"at most {bounding.rows} different values of each {declared.unit_name} count; values "
            f"held only by a {declared.unit_name} with more may be left out"
        )
    rules += dict.fromkeys(
        _explain_nulls(component)
        for component in plan.components
        if component.of is not None and component.form != "side"
    )
    if plan.query.keys and plan.query.public:
        rules.append("groups are the public keys; rows with other keys are left out")
    elif plan.query.keys:
        rules.append("small groups may be withheld")
    return tuple(rules)


def explain(plan: Plan) -> str:
    """Describe a plan line by line: the query, its cost, unit, rules, noise and expected errors."""
    query, bounding = plan.query, plan.calibration.bounding
    lines = ["what    " + query.text.replace("\n", "\n        ")]
    lines.append(f"cost    {cost_text(plan.cost)}")
    lines.append(f"unit    {query.rows.declaration.unit_name}, neighbours by {bounding.relation}")
    lines += [f"rule    {rule}" for rule in explain_rules(plan)]
    lines += _explain_noise(plan)
    if plan.calibration.selection is not None:
        lines.append(f"groups  {plan.calibration.selection!r}")
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
        is_gaussian = isinstance(noise[0], Gaussian)
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
    return ", ".join(
        f"{cost.symbols.get(name, name)} = {text(value)}" for name, value in cost.parameters.items()
    )


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


def _learned_note(component: Component, rows: Rows) -> str:
    return rows.declaration.learned.bounds_note(learned_column(component, rows) or "")


def _explain_nulls(component: Component) -> str:
    assert component.of is not None
    if component.missing:
        return component.missing
    if component.filled:
        return f"a missing {component.of.text} counts as its lower bound"
    return f"rows where {component.of.text} is null or NaN are left out of its aggregates"
