"""A report: named tables of the same rows by different keys, released together, so that they agree.

*Together*  The groupings of all questions are planned as one (`tables.plan.plan_groupings`), with
            shares that make no table worse than separate answers would be; one charge, one stored
            answer.
*Same*      The questions count the same rows and ask for the same columns. Rows are in the report
            if their keys are public ones in every table, so each table adds up to the others.
*Named*     Each question keeps its name, its keys, and what its text does after the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Unpack, cast

from ..answers.answer import Answer
from ..answers.stack_tables import stack_tables
from ..ledger import Ledger
from ..sql import read
from ..sql.postprocess import PostProcessing
from ..tables.declare.declaration import Key
from ..tables.plan.query_plan import Plan
from ..tables.query.join_steps import Join, Union
from ..tables.query.per_unit import PerUnit
from ..tables.query.question_options import PlanOptions, QuestionSettings, ReleaseOptions, asks
from ..tables.query.stages import Query, Rows, RowStep, Step
from ..tables.query.unit_windows import UnitWindow
from ..templates.summary import Summarized, Summary
from . import session_refusals as refusals
from .pending_plan import PendingPlan
from .repeats.combine_stored import StoredTables, combine_stored, find_stored, weighing_of

Questions = Mapping[str, Query | str] | Sequence[Query | str]


class ReportTable(Protocol):
    """A protected table, as a report needs it."""

    @property
    def name(self) -> str: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def rows(self) -> Rows: ...

    @property
    def others(self) -> Mapping[str, Rows]: ...


@dataclass(frozen=True, slots=True, eq=False)
class NamedQuestion:
    """A question of a report: its groupings as names of keys, and what follows its release."""

    name: str
    query: Query
    finish: PostProcessing | None

    @property
    def groupings(self) -> tuple[tuple[str, ...], ...]:
        """Return the keys of each of its tables."""
        sets = self.query.sets or (tuple(range(len(self.query.keys))),)
        return tuple(tuple(self.query.keys[place] for place in places) for places in sets)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report(Summarized):
    """Questions whose tables are to agree: `plan()` reads nothing, `release()` pays once."""

    questions: tuple[NamedQuestion, ...]
    query: Query
    ledger: Ledger
    use_stored: bool = False

    @asks(PlanOptions)
    def plan(self, **options: Unpack[PlanOptions]) -> Plan | PendingPlan:
        """Return the cost of the report and the error of each table. Reads no data."""
        return cast("Plan | PendingPlan", self.query.plan(**options))

    @asks(ReleaseOptions)
    def release(self, **options: Unpack[ReleaseOptions]) -> ReportAnswer:
        """Charge once, then answer all questions; or return the stored answers to the report."""
        answer: Answer = self.query.release(**options)
        return self.finish(answer, self.query, share=QuestionSettings(**options).share)

    def finish(self, answer: Answer, query: Query, *, share: str | None) -> ReportAnswer:
        """Return the tables by name, with what stored answers add to them. `query` is what was
        released: that of the report, or of a part of its rows.
        """
        if self.use_stored:
            answer = combine_stored(answer, query, self.ledger, share=share)
        return ReportAnswer({each.name: _answer_one(each, answer) for each in self.questions})

    @asks(PlanOptions)
    def stored(self, *, share: str | None = None, **options: Unpack[PlanOptions]) -> StoredTables:
        """Return the stored answers that would enter the report free of charge, and those that
        would not, with the reason. Reads the ledger, no data.
        """
        plan = self.plan(**options)
        if not isinstance(plan, Plan):
            return StoredTables((), ())  # no answer is about limits that nobody has learned
        weighing = weighing_of(plan.calibration.bounding)
        return find_stored(self.query, weighing, self.ledger, share=share)

    def _summary(self) -> Summary:
        return Summary(
            title=f"report of {len(self.questions)} questions · nothing is read or charged",
            heads=("table", "grouped by"),
            rows=[
                (each.name, "; ".join(", ".join(keys) or "nothing" for keys in each.groupings))
                for each in self.questions
            ],
            notes=["plan(epsilon=…) says what it costs, release(epsilon=…) answers"],
        )


class ReportAnswer(Mapping[str, Answer]):
    """The answers of a report by name. They agree: every total adds up in every table."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = dict(answers)

    def __getitem__(self, name: str) -> Answer:
        return self._answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    def __str__(self) -> str:
        return "\n\n".join(f"{name}\n{answer}" for name, answer in self._answers.items())

    __repr__ = __str__


def report(table: ReportTable, questions: Questions, *, use_stored: bool = False) -> Report:
    """Ask several questions about the same rows whose tables have to agree. With `use_stored`, the
    stored answers about the same counts make them more exact, free of charge.

    >>> tables = sf.report(
    ...     visits,
    ...     {
    ...         "cities": visits.group_by(city=["Roma", "Bari"]).count(),
    ...         "total": visits.count(),
    ...     },
    ... ).release(epsilon=0.5)
    >>> int(tables["cities"]["n"].sum() - tables["total"].value())
    0
    """
    if isinstance(questions, str | Query) or not questions:
        raise refusals.REPORT_WITHOUT_QUESTIONS(table=table.name)
    if isinstance(questions, Mapping):
        named = [_read(table, str(name), question) for name, question in questions.items()]
    else:
        unnamed = [_read(table, "", question) for question in questions]
        named = [replace(each, name=_name(each)) for each in unnamed]
    if len({each.name for each in named}) < len(named):
        raise refusals.REPORT_NAMES_TWICE()
    query = _combine(table, named)
    if use_stored and any(aggregate.text != "count()" for _, aggregate in query.aggregates):
        raise refusals.STORED_COUNTS_ALONE()
    return Report(tuple(named), query, table.ledger, use_stored)


def _read(table: ReportTable, name: str, question: Query | str) -> NamedQuestion:
    if isinstance(question, str):
        parsed = read(question, table.rows, None, table.others)
        return NamedQuestion(name, parsed.query, parsed.finish)
    if not isinstance(question, Query):
        raise refusals.NOT_A_QUERY(type=type(question).__name__, table=table.name)
    return NamedQuestion(name, question, None)


def _name(question: NamedQuestion) -> str:
    """Name a table by its keys."""
    return "; ".join(f"by {', '.join(keys)}" if keys else "total" for keys in question.groupings)


def _combine(table: ReportTable, questions: Sequence[NamedQuestion]) -> Query:
    """Return one question with the groupings of all."""
    first, domains = questions[0].query, dict[str, tuple[Key, ...]]()
    rows = first.rows
    for each in questions:
        rows = _merge_rows(table, rows, each)
        if [a.text for _, a in each.query.aggregates] != [a.text for _, a in first.aggregates]:
            raise refusals.REPORT_OF_OTHER_COLUMNS(name=each.name)
        for key, domain in zip(each.query.keys, each.query.domains, strict=True):
            if set(domains.setdefault(key, domain)) != set(domain):
                raise refusals.REPORT_OF_OTHER_KEYS(name=each.name, key=key)
    keys = tuple(domains)
    sets = dict.fromkeys(
        tuple(sorted(keys.index(key) for key in names))
        for each in questions
        for names in each.groupings
    )
    return Query(rows, keys, tuple(domains.values()), first.aggregates, tuple(sets), fair=True)


def _merge_rows(table: ReportTable, rows: Rows, question: NamedQuestion) -> Rows:
    """Add the columns that a question computes; refuse a question about other rows.

    Where steps differ, each computed column has to be a new one. So a name means the same at every
    step of every question, and conditions that read the same keep the same rows.
    """
    question_rows = question.query.rows
    refusal = refusals.REPORT_OF_OTHER_ROWS(name=question.name, table=table.name)
    if (question_rows.declaration.name, question_rows.declared) != (
        rows.declaration.name,
        rows.declared,
    ):
        raise refusal
    if question_rows.text == rows.text:
        return rows
    computed, question_columns = _computed_columns(rows), _computed_columns(question_rows)
    if (
        computed is None
        or question_columns is None
        or _other_steps(rows) != _other_steps(question_rows)
    ):
        raise refusal
    for name, step in question_columns.items():
        if name not in computed:
            rows = rows.mutate(**{name: step.expression})
        elif computed[name].text != step.text:
            raise refusal
    return rows


def _computed_columns(rows: Rows) -> dict[str, RowStep] | None:
    """Return the columns that are computed after the last join, union or step per unit; None if one
    of them takes the place of another column.
    """
    fixed, computed = _fixed_steps(rows), dict[str, RowStep]()
    names = set(rows.declaration.schema)
    for step in fixed:
        match step:
            case RowStep():
                names |= {step.column or ""}
            case Join() | Union():
                names |= {column[0] for column in step.columns}
            case UnitWindow():
                names.add(step.column)
            case PerUnit():
                names |= {name for name, _ in (*step.keys, *step.totals)}
    for step in rows.steps[len(fixed) :]:
        if isinstance(step, RowStep) and step.column is not None:
            if step.column in names:
                return None
            names.add(step.column)
            computed[step.column] = step
    return computed


def _fixed_steps(rows: Rows) -> tuple[Step, ...]:
    """Return the steps up to the last join, union or step per unit."""
    count = max(
        (i for i, step in enumerate(rows.steps, 1) if not isinstance(step, RowStep)), default=0
    )
    return rows.steps[:count]


def _other_steps(rows: Rows) -> list[str]:
    """Return the texts of all steps but the computed columns that a question may add."""
    fixed = _fixed_steps(rows)
    free = rows.steps[len(fixed) :]
    conditions = [step for step in free if isinstance(step, RowStep) and step.column is None]
    return [step.text for step in (*fixed, *conditions)]


def _answer_one(question: NamedQuestion, answer: Answer) -> Answer:
    """Return the answer to one question, under its own names."""
    columns = [name for name, _ in question.query.aggregates]
    tables = [
        replace(
            part,
            columns=tuple(
                replace(column, name=name)
                for column, name in zip(part.columns, columns, strict=True)
            ),
            facts={**part.facts, "question": question.query.text},
        )
        for part in (answer.table(*keys) for keys in question.groupings)
    ]
    result = (
        stack_tables(tables, question.query.keys, {"question": question.query.text})
        if question.query.sets
        else _reorder(tables[0], question.query)
    )
    return result if question.finish is None else question.finish(result)


def _reorder(table: Answer, query: Query) -> Answer:
    """Return a table with its keys in the order of the question."""
    at = [table.keys.index(key) for key in query.keys]
    return replace(
        table, keys=query.keys, rows=tuple(tuple(row[i] for i in at) for row in table.rows)
    )
