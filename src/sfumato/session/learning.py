"""Learning: what the owner left out of a declaration is found from the data, privately, once, as a
charge of its own, and kept.

*Lesson*    One noisy histogram each, through the door like any question. Rows: every unit is one
            row and in one cell. Bounds: the rows of a unit weigh one together, whatever their
            number, so that no limit has to be known first. The choice of a limit from a histogram
            is post-processing (`limits`).
*Tables*    A lesson is about one table, and about the unit: of several that are protected together,
            each learns what a question lacks of it.
*Kept*      under a name of its own in the ledger. Whoever asks later, from another process, with
            another ε or another declaration, gets the same limit for nothing; a share that has not
            seen it pays what the first asker paid (`payments`).
*Enforced*  A learned limit is used like a declared one: whatever it is, values are clipped to it
            and units bounded by it. Privacy does not rest on its being a good one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import Refused
from ..exact.numbers import text
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import ratio
from ..ledger import Ledger
from ..mechanisms.shared.additive import Additive
from ..release import or_failed, release
from ..tables.declare.declaration import Declaration
from ..tables.declare.learned_limits import REST, TAILS, read_shares, written
from ..tables.expr.column_names import unknown
from ..tables.expr.expressions import col
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import Lack, unbounded
from ..tables.plan.query_plan import Plan, plan
from ..tables.query import aggregates as ag
from ..tables.query.per_unit import Total
from ..tables.query.stages import Query, Rows
from .choose_limits import (
    NEXT,
    NOISE,
    SURE,
    Seen,
    off,
    part,
    row_edges,
    row_limit,
    value_bounds,
    value_edges,
)

if TYPE_CHECKING:
    from .table_state import Known

SHARE = Fraction(1, 6)
"""Of the promise of a release that something has to be learned for: so much is charged for
learning, beside it.
"""
FIRST = Fraction(1, 20)
"""Of the whole budget: so much for what has to be learned before it is known what an accuracy
costs.
"""


@dataclass(frozen=True, slots=True)
class Found:
    """What was learned: a limit, or the bounds of a column, with the shares that lie beyond."""

    lack: Lack
    value: tuple[Fraction, ...]
    shares: tuple[Fraction, ...] | None

    @property
    def place(self) -> tuple[str, ...]:
        """What of which declaration it is: there is one limit of groups, whatever columns it was
        learned by.
        """
        return (
            self.lack.table,
            self.lack.kind,
            *(self.lack.of if self.lack.kind == "bounds" else ()),
        )

    def to_json(self) -> bytes:
        return json.dumps(
            {
                "learned": 1,
                "value": [str(number) for number in self.value],
                "shares": written(self.shares),
            }
        ).encode()

    @classmethod
    def from_json(cls, lack: Lack, stored: bytes) -> Found:
        try:
            said = json.loads(stored)
            value = tuple(map(ratio, said["value"]))
            shares = read_shares(said["shares"], TAILS if lack.kind == "bounds" else REST)
            right = (
                len(value) == 2 and value[0] <= value[1]
                if lack.kind == "bounds"
                else len(value) == 1 and value[0].denominator == 1 <= value[0]
            )
            if not right or said["learned"] != 1 or set(said) != {"learned", "value", "shares"}:
                raise ValueError(said)
        except (LookupError, TypeError, ValueError, RecursionError):
            raise Refused(
                "answer.stored",
                "what was learned",
                "the record is damaged or incomplete",
                "sf.Ledger.verify, and the last backup",
            ) from None
        return cls(lack, value, shares)

    def into(self, declaration: Declaration) -> Declaration:
        """The declaration with it."""
        learned = declaration.learned
        if self.lack.kind == "bounds":
            (column,), ends = self.lack.of, {**declaration.ranges, self.lack.of[0]: self.value}
            bounds = tuple((name, ends[name]) for name, _ in declaration.types if name in ends)
            return replace(
                declaration,
                bounds=bounds,  # type: ignore[arg-type]
                learned=learned.with_bounds(column, self.shares),
            )
        limit = {self.lack.kind: int(self.value[0])}
        return replace(
            declaration,
            **limit,  # type: ignore[arg-type]
            learned=learned.with_limit(self.lack.kind, self.shares),
        )


@dataclass(frozen=True, slots=True)
class Learning:
    """What `learn` gives: the declaration as it is now, what was found, and what that cost."""

    declaration: Declaration
    found: tuple[Found, ...]
    cost: Guarantee | None

    def __str__(self) -> str:
        learned, unit = self.declaration.learned, self.declaration.unit_name
        said = []
        for found in self.found:
            if found.lack.kind == "bounds":
                low, high = found.value
                said.append(
                    f"{found.lack.of[0]} clipped to [{text(low)}, "
                    f"{text(high)}]{learned.of_bounds(found.lack.of[0])}"
                )
            else:
                what = (
                    "rows"
                    if found.lack.kind == "max_rows"
                    else f"groups by {' and '.join(found.lack.of)}"
                )
                said.append(
                    f"a {unit} counts for at most {int(found.value[0])} "
                    f"{what}{learned.of_limit(found.lack.kind)}"
                )
        said.append("cost nothing" if self.cost is None else f"cost {cost_text(self.cost)}")
        return "\n".join(said)


def recalled(
    ledger: Ledger, declaration: Declaration, lack: Lack, share: str | None = None
) -> Found | None:
    """What was learned before, if it was."""
    stored = ledger.recall(name_of(lack, declaration), share=share)
    return None if stored is None else Found.from_json(lack, stored.answer)


def lesson(known: Known, lack: Lack, promise: Guarantee) -> Plan:
    """The plan of a histogram to learn from. Reads nothing."""
    query = _query(known, lack)
    assert query.rows.origin is not None
    return plan(query, promise, query.rows.origin.source)


def taught(
    known: Known,
    ledger: Ledger,
    lacks: Sequence[Lack],
    promise: Guarantee,
    reference: Guarantee,
    *,
    share: str | None,
    fresh: bool,
    timeout: float | None,
) -> tuple[Found, ...]:
    """Charge, ask and choose, one lack after the other: each has an equal share of the promise. All
    plans are made before the first charge.
    """
    plans = [lesson(known, lack, part(promise, Fraction(1, len(lacks)))) for lack in lacks]
    noise = NOISE[type(reference)](reference)
    found = []
    for lack, planned in zip(lacks, plans, strict=True):
        declared = known.declared[known.home(lack)]
        answer = release(planned, ledger, share=share, fresh=fresh, timeout=timeout)
        made = or_failed(partial(_chosen, lack, declared, planned, answer["h"][0].tolist(), noise))
        paid: Any = answer.receipts[0]
        ledger.remember(paid, name_of(lack, declared), made.to_json())
        found.append(made)
    return tuple(found)


def wanted(
    declaration: Declaration, columns: Any, groups: Any, *, again: bool, links: Iterable[str] = ()
) -> tuple[Lack, ...]:
    """What `learn` is asked for: all that is missing, or some columns; what is known is not
    learned, and what links tables only where it is named.
    """
    free = [*unbounded(declaration), *(column for column, _ in declaration.learned.bounds if again)]
    rows = bool(declaration.unit) and (
        declaration.max_rows is None or (again and "max_rows" in dict(declaration.learned.limits))
    )
    named = (
        [column for column in free if column not in links]
        if columns is None
        else [columns]
        if isinstance(columns, str)
        else list(columns)
    )
    for column in named:
        if column not in declaration.schema:
            raise unknown(column, list(declaration.schema), {}, "columns")
        if column not in free:
            why = (
                "its bounds are known"
                if column in declaration.ranges
                else "only numbers have bounds"
                if column not in declaration.unit
                else "it is the unit"
            )
            raise Refused(
                "learn.column",
                f"columns=[{column!r:.60}]",
                why,
                f"columns={free!r:.60}" if free else "nothing is missing",
            )
    table = declaration.name if declaration.among else ""
    found = [
        *([Lack("max_rows", (), table)] if rows else []),
        *(Lack("bounds", (column,), table) for column in dict.fromkeys(named)),
    ]
    if groups is not None:
        keys = (groups,) if isinstance(groups, str) else tuple(groups)
        if (
            not declaration.unit
            or not keys
            or any(key not in declaration.schema or key in declaration.unit for key in keys)
        ):
            raise Refused(
                "learn.groups",
                f"groups={keys!r:.60}",
                "a unit has groups by columns of the table other than its own",
                "groups='city'",
            )
        found.append(Lack("max_groups", keys, table))
    return tuple(found)


def name_of(lack: Lack, declaration: Declaration) -> str:
    """What it is kept under: not the whole declaration, so that what is declared later of other
    columns changes nothing.
    """
    types = {column: str(declaration.schema[column].bare) for column in lack.of}
    among = {"table": lack.table} if lack.table else {}
    return json.dumps(
        {"learned": 1, "what": lack.kind, "of": types, "unit": declaration.unit, **among},
        ensure_ascii=False,
    )


def _query(known: Known, lack: Lack) -> Query:
    home = known.home(lack)
    declared = known.declared[home]
    rows: Rows = known.rows_of(
        {**known.declared, home: replace(declared, max_rows=1, max_groups=1)}
    )[home]
    if lack.kind == "bounds":
        return rows.aggregate(
            h=ag.histogram(col(*lack.of), edges=value_edges(declared.schema[lack.of[0]]))
        )
    name = next(
        word
        for word in ("rows", "n", "m")
        if word not in [column.lower() for column in declared.unit]
    )
    if lack.kind == "max_groups":
        rows = rows.per_unit({column: col(column) for column in lack.of}, {})
    return rows.per_unit({}, {name: Total("count")}).aggregate(
        h=ag.histogram(name, edges=row_edges())
    )


def _chosen(
    lack: Lack, declared: Declaration, planned: Plan, counts: list[float], noise: float
) -> Found:
    law = planned.calibration.noise[0][0]
    assert isinstance(law, Additive)
    step = float(planned.calibration.bounding.step(planned.pieces[0]))
    sure, near = (law.law.quantile(1 - rate) * step for rate in (SURE / len(counts), NEXT))
    seen = Seen(tuple(counts), sure, near, lambda cells: off(law.law, cells, len(counts)) * step)
    if lack.kind == "bounds":
        ends, tails = value_bounds(value_edges(declared.schema[lack.of[0]]), seen, noise)
        return Found(lack, ends, tails)
    limit, rest = row_limit(seen, noise)
    return Found(lack, (Fraction(limit),), rest)
