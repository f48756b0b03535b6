"""A plan in people's words: the rules that an answer is made by, and what would happen. Public
things only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exact.numbers import text
from ...guarantees import Guarantee
from ...mechanisms import Gaussian
from ..query.stages import Rows
from . import min_max
from .components import Piece, learned_column

if TYPE_CHECKING:
    from .query_plan import Plan


def rules(plan: Plan) -> tuple[str, ...]:
    """What was done to the data before it was counted."""
    declared, bounding = plan.query.rows.declaration, plan.calibration.bounding
    said = []
    rows = _rows(bounding.rows) + (
        "" if plan.query.rows.once else declared.learned.of_limit("max_rows")
    )
    if not declared.unit:
        said.append("each row is taken as a different person")
    elif bounding.truncation:
        said.append(f"of a {declared.unit_name} at most {rows} count")
    elif bounding.norm == "L2" and bounding.grouped:
        said.append(
            f"a {declared.unit_name} counts for at most {rows} in one group, and for "
            f"less in each where it has rows in many"
        )
    else:
        said.append(
            f"a {declared.unit_name} counts for at most {rows}; one with more counts for "
            f"that many, each of its rows for a part"
        )
    if declared.unit:
        said.append(f"rows without a {declared.unit_name} are left out")
    said += dict.fromkeys(
        rule for step in plan.query.rows.steps for rule in getattr(step, "rules", ())
    )
    if any(piece.form == "unit" for piece in plan.pieces) and bounding.grouped:
        said.append(
            f"a {declared.unit_name} is counted in at most {bounding.groups} "
            f"groups{declared.learned.of_limit('max_groups')}"
        )
    said += dict.fromkeys(
        _clipped(piece) + _learned(piece, plan.query.rows)
        for piece in plan.pieces
        if piece.form in ("value", "centred", "point", "tree")
    )
    beyond = (
        min_max.rule(piece, noise[0], bounding.bits)
        for piece, noise in zip(plan.pieces, plan.calibration.noise, strict=True)
    )
    said += [rule for rule in beyond if rule]
    if any(piece.form == "distinct" for piece in plan.pieces) and declared.unit:
        said.append(
            f"of a {declared.unit_name} at most {bounding.rows} different values count; "
            f"what only those with more of them have may be left out"
        )
    said += dict.fromkeys(
        _missing(piece) for piece in plan.pieces if piece.of is not None and piece.form != "side"
    )
    if plan.query.keys and plan.query.public:
        said.append("groups are the public keys; rows with other keys are left out")
    elif plan.query.keys:
        said.append("small groups may be withheld")
    return tuple(said)


def explain(plan: Plan) -> str:
    """What would be computed, with which noise, at what cost, and how exact it would be."""
    query, bounding = plan.query, plan.calibration.bounding
    lines = ["what    " + query.text.replace("\n", "\n        ")]
    lines.append(f"cost    {cost_text(plan.cost)}")
    lines.append(f"unit    {query.rows.declaration.unit_name}, neighbours by {bounding.relation}")
    lines += [f"rule    {rule}" for rule in rules(plan)]
    for piece, noise in zip(plan.pieces, plan.calibration.noise, strict=True):
        what = {"point": "chosen by the exponential mechanism"}.get(
            piece.form, "Gaussian" if isinstance(noise[0], Gaussian) else "Laplace"
        )
        norm = "L2" if isinstance(noise[0], Gaussian) else "L1"
        moved = bounding.l2_squared(piece) ** 0.5 if norm == "L2" else bounding.l1(piece)
        step = float(bounding.step(piece))
        moves = (
            ""
            if piece.form == "point"
            else (
                f"; one {query.rows.declaration.unit_name} moves it by at most "
                f"{moved * step:.6g} ({norm})"
            )
        )
        lines.append(f"noise   {piece.name}: {what}{moves}")
    if plan.calibration.selection is not None:
        lines.append(f"groups  {plan.calibration.selection!r}")
    lines += [f"error   {name} {plan.about(name, error)}" for name, error in plan.error().items()]
    return "\n".join(lines)


def cost_text(cost: Guarantee) -> str:
    return ", ".join(
        f"{_GREEK.get(name, name)} = {text(value)}" for name, value in cost.parameters.items()
    )


_GREEK = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ"}


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _clipped(piece: Piece) -> str:
    if piece.rule:
        return piece.rule
    assert piece.of is not None
    assert piece.grid is not None
    return (
        f"{piece.of.text} clipped to [{text(piece.grid.low * piece.grid.step)}, "
        f"{text(piece.grid.high * piece.grid.step)}]"
    )


def _learned(piece: Piece, rows: Rows) -> str:
    return rows.declaration.learned.of_bounds(learned_column(piece, rows) or "")


def _missing(piece: Piece) -> str:
    assert piece.of is not None
    if piece.rule:
        return "rows without a value, or without a weight, are left out of a weighted mean"
    if piece.filled:
        return f"a missing {piece.of.text} is taken for its lower end"
    return f"rows without a value of {piece.of.text} (null, NaN) are left out of what is said of it"
