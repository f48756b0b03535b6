"""A report on data that change part by part: each month again, and only what changed is paid.

*Parts*     The rows lie in parts: months, regions, deliveries. The report is answered for each of
            them, as a release of its own.
*Version*   The owner labels the state of each part. A part with the label of before returns its
            stored answer, free of charge; a new label makes a new question, which is charged.
            Nobody looks at the data to find out.
*Limits*    are those that the owner declared. Nothing is learned here.
*Same*      The label of a part takes the place of the table's version. Every other change of the
            declaration makes new questions, too. Public keys of the column of parts do not count:
            their list grows with the data.
*Together*  All parts that have to be paid fit into the budget together, or none is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Unpack

from ...accounting.filters import Filter
from ...guarantees import Guarantee
from ...tables.declare.declaration import is_label
from ...tables.expr.expressions import Expr, col, literal
from ...tables.plan.explain import cost_text
from ...tables.plan.missing_limits import redeclare_query
from ...tables.plan.query_plan import Plan
from ...tables.query.question_options import (
    PlanOptions,
    QuestionSettings,
    ReleaseOptions,
    asks,
)
from ...tables.query.stages import Query
from ...templates.summary import Summarized, Summary
from .. import session_refusals as refusals
from ..batches import Batch
from ..reports import Questions, Report, ReportAnswer, report
from ..request import PlanAttempt, Request
from ..share_payments import check_steps, is_stored
from .version_costs import VersionCosts, cost_by_version

if TYPE_CHECKING:
    import pandas

    from ..protected_table import Table


@dataclass(frozen=True, slots=True, eq=False)
class ReportPart:
    """A part of the rows: the condition that its rows meet, and the owner's label of its state."""

    name: str
    condition: Expr | str
    label: str

    @property
    def version(self) -> str:
        """The version of the data that the declaration of this part states."""
        return f"{self.name} · {self.label}"


@dataclass(frozen=True, slots=True, eq=False)
class PartPlan:
    """The plan of a part, and whether its answer is stored."""

    part: ReportPart
    plan: Plan
    cost: Guarantee  # in the currency of the budget
    is_stored: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RefreshPlan(Summarized):
    """What a refresh would cost: nothing for the parts whose answers are stored."""

    parts: tuple[PartPlan, ...]

    @property
    def cost(self) -> Guarantee | None:
        """The cost of all parts that have to be paid; None if all are stored."""
        costs = [each.cost for each in self.parts if not each.is_stored]
        total = None
        for cost in costs:
            total = cost if total is None else total + cost
        return total

    @property
    def charged(self) -> tuple[str, ...]:
        """The names of the parts that have to be paid."""
        return tuple(each.part.name for each in self.parts if not each.is_stored)

    def _summary(self) -> Summary:
        rows = [
            (
                each.part.name,
                each.part.label,
                "nothing: stored" if each.is_stored else cost_text(each.cost),
                ", ".join(f"{name} ± {error:.4g}" for name, error in each.plan.error().items()),
            )
            for each in self.parts
        ]
        cost = self.cost
        return Summary(
            title=f"refresh of {len(rows)} part{'s' * (len(rows) != 1)} · cost "
            f"{'nothing' if cost is None else cost_text(cost)} · nothing is read or charged",
            heads=("part", "version", "cost", "expected error"),
            rows=rows,
        )


class _PlannedPart(NamedTuple):
    query: Query
    request: Request
    attempt: PlanAttempt
    batch: Batch


class RefreshAnswer(Mapping[str, ReportAnswer]):
    """The tables of every part, by the name of the part."""

    def __init__(self, parts: Mapping[str, ReportAnswer], charged: tuple[str, ...]) -> None:
        self._parts = dict(parts)
        self.charged = charged

    def __getitem__(self, name: str) -> ReportAnswer:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def to_pandas(self, name: str, *, intervals: bool = False) -> pandas.DataFrame:
        """Return a table of the report for all parts, one below the other, as a pandas frame whose
        first column is the part.
        """
        import pandas

        frames = []
        for part, tables in self._parts.items():
            frame = tables[name].to_pandas(intervals=intervals)
            frame.insert(0, "part", part)
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def __str__(self) -> str:
        return "\n\n".join(f"{part}\n{tables}" for part, tables in self._parts.items())

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Refresh(Summarized):
    """A report for each part of the rows: `plan()` reads nothing, `release()` pays for the parts
    whose version is new.
    """

    table: Table
    report: Report
    parts: tuple[ReportPart, ...]
    column: str

    @asks(PlanOptions)
    def plan(self, *, share: str | None = None, **options: Unpack[PlanOptions]) -> RefreshPlan:
        """Return what each part would cost. Reads no data, costs nothing."""
        batches = [each.batch for each in self._plan_parts(**options)]
        ledger = self.table.ledger
        currency = Filter(ledger.budget)
        return RefreshPlan(
            tuple(
                PartPlan(
                    part,
                    batch.plans[0],
                    currency.price(batch.cost),
                    is_stored(batch, ledger, share),
                )
                for part, batch in zip(self.parts, batches, strict=True)
            )
        )

    @asks(ReleaseOptions)
    def release(self, **options: Unpack[ReleaseOptions]) -> RefreshAnswer:
        """Answer the report for every part. Parts with the version of before return their stored
        answers; the others are charged, one after the other, with this promise for each.
        """
        settings = QuestionSettings(**options)
        planned = self._plan_parts(**options)
        batches = [each.batch for each in planned]
        check_steps(
            self.table.state, batches, batches[0].promise, settings.share, fresh=settings.fresh
        )
        tables: dict[str, ReportAnswer] = {}
        charged = []
        for part, each in zip(self.parts, planned, strict=True):
            answer = each.request.release(each.attempt)[0]
            tables[part.name] = self.report.finish(answer, each.query, share=settings.share)
            if not answer.recalled:
                charged.append(part.name)
        return RefreshAnswer(tables, tuple(charged))

    def costs(self) -> VersionCosts:
        """Return what each version of the data has cost so far: of all questions that the ledger
        has answers to, about this dataset.
        """
        return cost_by_version(self.table.ledger)

    def _plan_parts(self, **options: Unpack[ReleaseOptions]) -> list[_PlannedPart]:
        planned = []
        for part in self.parts:
            state = self.table.state.with_version(part.version, self.table.name, self.column)
            rows = dict(state.rows)
            rows[self.table.name] = rows[self.table.name].where(part.condition)
            query = redeclare_query(self.report.query, rows)
            options["learn"] = False  # limits that data decide would change from part to part
            request = Request.of_question(state, self.table.name, query, **options)
            attempt = request.attempt()
            assert attempt.plan is not None  # otherwise it refused
            planned.append(_PlannedPart(query, request, attempt, attempt.plan))
        return planned

    def _summary(self) -> Summary:
        questions, parts = len(self.report.questions), len(self.parts)
        return Summary(
            title=f"report of {questions} question{'s' * (questions != 1)} on {parts} "
            f"part{'s' * (parts != 1)} · nothing is read or charged",
            heads=("part", "version"),
            rows=[(part.name, part.label) for part in self.parts],
            notes=[
                "plan(epsilon=…) says which parts have to be paid, release(epsilon=…) answers",
                "costs() lists what each version has cost",
            ],
        )


def refresh(
    table: Table,
    questions: Questions,
    *,
    parts: str | Mapping[str, Expr | str],
    versions: Mapping[str, str],
    use_stored: bool = False,
) -> Refresh:
    """Answer a report for each part of the rows, and again where the owner's label of a part has
    changed. `parts` is a column whose values name the parts, or a condition for each part.

    >>> monthly = sf.refresh(
    ...     visits,
    ...     {"cities": visits.group_by(city=["Roma", "Bari"]).count(), "total": visits.count()},
    ...     parts={"young": "age < 30", "old": "age >= 30"},
    ...     versions={"young": "final", "old": "first"},
    ... )
    >>> monthly.release(epsilon=0.1).charged
    ('young', 'old')
    >>> monthly.release(epsilon=0.1).charged
    ()
    """
    if not isinstance(versions, Mapping) or not versions:
        raise refusals.REFRESH_WITHOUT_VERSIONS()
    conditions: Mapping[str, Expr | str] = (
        {name: col(parts) == literal(name) for name in versions}
        if isinstance(parts, str)
        else dict(parts)
    )
    if set(conditions) != set(versions):
        unmatched = sorted(map(str, set(conditions) ^ set(versions)))
        raise refusals.REFRESH_OF_OTHER_PARTS(parts=", ".join(unmatched))
    listed = tuple(
        ReportPart(str(name), conditions[name], label) for name, label in versions.items()
    )
    for part in listed:
        if not is_label(part.label) or not part.label.strip() or not is_label(part.version):
            raise refusals.REFRESH_LABEL(part=part.name, label=part.label)
    if len({part.name for part in listed}) < len(listed):
        raise refusals.REFRESH_OF_OTHER_PARTS(parts=", ".join(part.name for part in listed))
    named = report(table, questions, use_stored=use_stored)
    return Refresh(table, named, listed, parts if isinstance(parts, str) else "")
