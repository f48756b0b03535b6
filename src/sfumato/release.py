"""The door: the one place where exact integers of the data meet noise.

*Charge*    The ledger entry is durable before any data is read. From then on nothing is refunded,
            and every failure shows the same constant text.
*Secret*    Two calls see data: `_tally` has the engine sum integers, `_perturb` selects groups and
            adds noise. Nothing in between leaves this module.
*Finish*    `finish` post-processes noisy integers and public facts into the answer. The ledger
            stores it under its question; asking the same question again costs nothing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from . import __version__
from .answers.answer import Answer
from .answers.answer_records import Column, Draw, Key, LinearNoise, Noisy, Paid, Weighing
from .answers.stack_tables import mark_recalled, stack_tables, whole_counts
from .errors import Failed
from .guarantees import Guarantee
from .ledger import Ledger, Receipt
from .mechanisms.linear.axis_strategies import measure_axes
from .mechanisms.series.running_sums import RunningSums
from .mechanisms.shared.mechanism import Mechanism
from .mechanisms.shared.stored_mechanism import record
from .noise.bits import SYSTEM, Bits
from .tables.aggregates.component import Component
from .tables.aggregates.count_tree import Integers
from .tables.aggregates.rank_ends import QuantileBins, place_knots, weigh_bins
from .tables.aggregates.tree_noise import HasHalfWidth
from .tables.engine.sources import TableSource
from .tables.marginals.parts import Keys
from .tables.plan.cells import Block
from .tables.plan.explain import explain_left_out, explain_rules, explain_unmeasured
from .tables.plan.explain_groupings import explain_measured
from .tables.plan.explain_groups import explain_no_group
from .tables.plan.min_max import integers_of_points, with_end
from .tables.plan.period_sums import PeriodSums
from .tables.plan.query_plan import Plan
from .tables.plan.read_results import (
    Places,
    ResultGroups,
    chosen_groups,
    combine_sums,
    counts_of_lines,
    read_component,
    read_points,
    scale_integers,
    votes_of,
)
from .tables.plan.reconcile_groupings import reconcile_blocks
from .tables.plan.statements import EngineStatement

MEMO_OF_VERSION = "version "
"""How the first line of a memo begins that states the version of the data. Questions begin
otherwise: with the table that they are about.
"""

Tables = tuple[Any, ...]
T = TypeVar("T")


class AddsNoise(Protocol):
    """A mechanism that adds noise to exact integers."""

    @property
    def law(self) -> HasHalfWidth: ...

    def perturb(self, value: Integers, *, bits: Bits) -> Integers: ...


class SelectsByCount(Protocol):
    """A mechanism that adds noise to the counts of all groups and says which may be shown."""

    def perturb_all(
        self, counts: Integers, *, bits: Bits
    ) -> tuple[Integers, NDArray[np.bool_]]: ...


class PicksPoints(Protocol):
    """A mechanism that picks one point per group, from weighted points."""

    def perturb_each(
        self,
        groups: Places,
        points: NDArray[np.int64],
        weights: Integers,
        count: int,
        *,
        bits: Bits,
    ) -> NDArray[np.int64]: ...


def release_all(
    plans: Sequence[Plan],
    mechanism: Mechanism,
    ledger: Ledger,
    notes: tuple[str, ...] = (),
    *,
    share: str | None = None,
    fresh: bool = False,
    timeout: float | None = None,
    bits: Bits = SYSTEM,
) -> tuple[Answer, ...]:
    """Charge once for several plans, then answer each; if all answers are stored, return those.

    The charge is recorded before any plan reads a row. `notes` are added to the rules of each
    answer.
    """
    keys = [question_key(plan) for plan in plans]
    stored = None if fresh else ledger.recall_all(keys, share=share)
    if stored is not None:
        return tuple(
            mark_recalled(Answer.from_json(recalled.answer), recalled.when) for recalled in stored
        )
    # public: made before the charge, so that a plan that cannot be run is not charged
    ready = [(plan.statements, plan.groups) for plan in plans]
    for plan, (statements, _) in zip(plans, ready, strict=True):
        _check(plan, statements, timeout)
    receipt = ledger.charge(mechanism, memo=_memo(plans), share=share)
    left = ledger.remaining
    answers = []
    for plan, (statements, groups), key in zip(plans, ready, keys, strict=True):
        make_answer = _attempt(plan, statements, groups, timeout, bits)
        if make_answer is None:
            raise Failed
        answer = or_failed(partial(make_answer, ledger=ledger, receipt=receipt, left=left))
        answers.append(replace(answer, rules=(*answer.rules, *notes)))
        _remember(ledger, receipt, key, answers[-1])
    return tuple(answers)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step of a measurement: what the engine runs, how its tallies become exact integers, and
    the noise that each array of them gets.

    `count` is handed the tallies of this step and of all before it, so a step may have no statement
    and add up what an earlier one has read.
    """

    statements: Sequence[EngineStatement]
    count: Callable[[Sequence[Tables]], Iterable[Integers]]
    noise: Sequence[AddsNoise]


class MeasuresInSteps(Protocol[T]):
    """A plan whose steps are measured one after the other, for one charge.

    `steps` yields a step, is sent its noisy integers, and may let them choose the next step; what
    it returns is public. `mechanism` is what all steps cost together, whatever they choose: every
    scale is fixed before data is read. `statements` has each kind of statement that a step may run.
    """

    @property
    def source(self) -> TableSource: ...
    @property
    def statements(self) -> Sequence[EngineStatement]: ...
    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def text(self) -> str: ...
    @property
    def question_key(self) -> str: ...
    def steps(self) -> Generator[Step, list[Integers], T]: ...
    def pack(self, result: T, receipt: Receipt, /) -> bytes: ...


def release_steps(
    plan: MeasuresInSteps[T],
    ledger: Ledger,
    *,
    share: str | None = None,
    fresh: bool = False,
    timeout: float | None = None,
    bits: Bits = SYSTEM,
) -> bytes:
    """Charge once for all steps of a plan, measure them, and return and store the result as the
    plan packs it. If it is stored, return that.
    """
    stored = None if fresh else ledger.recall(plan.question_key, share=share)
    if stored is not None:
        return stored.answer
    plan.source.engine.check(timeout)
    for statement in plan.statements:
        plan.source.engine.check_supported(statement.expression)
    receipt = ledger.charge(plan.mechanism, memo=plan.text, share=share)
    packed = _attempt_steps(plan, receipt, timeout, bits)
    if packed is None:
        raise Failed
    with suppress(Exception):
        ledger.remember(receipt, plan.question_key, packed)
        return packed
    raise Failed


def _attempt_steps(
    plan: MeasuresInSteps[T], receipt: Receipt, timeout: float | None, bits: Bits
) -> bytes | None:
    """Measure all steps and pack their result; None if anything breaks. The error may be about
    data. The exact tallies live here alone: the plan is sent noisy integers.
    """
    engine = plan.source.engine
    try:
        with engine.unchanged():
            tallies: list[Tables] = []
            steps = plan.steps()
            step = next(steps)
            while True:
                tallies.append(
                    tuple(engine.tally(statement, timeout=timeout) for statement in step.statements)
                )
                noisy = [
                    noise.perturb(exact, bits=bits)
                    for noise, exact in zip(step.noise, step.count(tallies), strict=True)
                ]
                try:
                    step = steps.send(noisy)
                except StopIteration as end:
                    return plan.pack(end.value, receipt)
    except Exception:
        return None


def release(
    plan: Plan,
    ledger: Ledger,
    *,
    share: str | None = None,
    fresh: bool = False,
    timeout: float | None = None,
    bits: Bits = SYSTEM,
) -> Answer:
    """Charge, tally, perturb and finish; or return the stored answer to the same question."""
    return release_all(
        (plan,), plan.mechanism, ledger, share=share, fresh=fresh, timeout=timeout, bits=bits
    )[0]


@dataclass(frozen=True, slots=True, eq=False)
class StreamCharge:
    """What pays for all measurements of a stream: one mechanism, charged once under its key. The
    account may not be open yet: `open_account` opens it.
    """

    ledger: Ledger
    mechanism: Mechanism
    memo: str
    key: str
    open_account: Callable[[], Ledger] | None = None


def release_periods(
    sums: PeriodSums,
    noise: Sequence[RunningSums],
    after: int,
    charge: StreamCharge,
    question: str,
    *,
    timeout: float | None = None,
    bits: Bits = SYSTEM,
) -> bytes:
    """Measure the periods of a stream that follow `after`, store the noisy integers, and return
    what is stored; or return what was stored before, by this process or another.

    The stream is charged when its first period is measured. No noise is shown that is not stored:
    a process that ends in between has shown nothing, and the next one draws for the first time.
    """
    ledger = charge.ledger
    stored = ledger.recall(question)
    if stored is not None:
        return stored.answer
    engine, statements, groups = sums.source.engine, sums.statements, sums.groups
    engine.check(timeout)
    for statement in statements:
        engine.check_supported(statement.expression)
    if charge.open_account is not None:
        ledger = charge.open_account()
    receipt = ledger.charge(charge.mechanism, memo=charge.memo, key=charge.key)
    measured = _attempt_periods(sums, statements, groups, noise, after, timeout, bits)
    if measured is None:
        raise Failed
    with suppress(Exception):
        return ledger.remember_first(receipt, question, measured)
    raise Failed


def _attempt_periods(
    sums: PeriodSums,
    statements: Sequence[EngineStatement],
    groups: ResultGroups,
    noise: Sequence[RunningSums],
    after: int,
    timeout: float | None,
    bits: Bits,
) -> bytes | None:
    """Sum and perturb the periods; None if anything breaks. The error may be about data."""
    try:
        with sums.source.engine.unchanged():
            tally = [
                sums.source.engine.tally(statement, timeout=timeout) for statement in statements
            ]
        at = {place: i for i, statement in enumerate(statements) for place in statement.components}
        columns = []
        for place, (component, mechanism) in enumerate(zip(sums.components, noise, strict=True)):
            exact = read_component(
                statements[at[place]],
                tally[at[place]],
                component,
                place,
                groups,
                sums.bounding,
                public=True,
            )
            by_period = exact.reshape(sums.periods, -1)
            measured = mechanism.perturb(by_period, after=after, bits=bits)
            columns.append([list(map(int, row)) for row in measured])
        released = {"measurements": 1, "first": after + 1, "columns": columns}
        return json.dumps({**released, "last": after + len(columns[0])}).encode()
    except Exception:
        return None


def or_failed(make: Callable[[], T]) -> T:
    """Run `make` on released numbers; raise Failed if it breaks. Data was read and charged for, so
    the error is neither shown nor kept as a cause.
    """
    with suppress(Exception):
        return make()
    raise Failed


def _remember(ledger: Ledger, receipt: Receipt, key: str, answer: Answer) -> None:
    """Store an answer under its question. Data was read and charged for, so an answer that cannot
    be stored has failed; it is too late to refuse.
    """
    with suppress(Exception):
        ledger.remember(receipt, key, answer.to_json())
        return
    raise Failed


def _memo(plans: Sequence[Plan]) -> str:
    """Return the questions for the ledger's history, after the version of the data."""
    version = plans[0].query.rows.declaration.version
    texts = [f"{MEMO_OF_VERSION}{version}"] if version else []
    return "\n".join([*texts, "\n\n".join(plan.text for plan in plans)])


def _check(plan: Plan, statements: Tables, timeout: float | None) -> None:
    """Refuse statements that the engine cannot run, before anything is charged."""
    plan.source.engine.check(timeout)
    for statement in statements:
        plan.source.engine.check_supported(statement.expression)


def question_key(plan: Plan) -> str:
    """Return the key of a stored answer: query, declaration (with the owner's label of the data)
    and promise. An equal key returns the stored answer.
    """
    pieces = [
        [p.name, p.form, p.low, p.high, str(p.step), p.cells, *map(str, p.edges)]
        for p in plan.components[: len(plan.calibration.readings)]
    ]  # should two queries ever have the same text
    key = {
        "question": 1,
        "query": plan.text,
        "pieces": pieces,
        "declaration": plan.declared,
        "promise": plan.promise.to_json(),
    }
    return json.dumps(key, ensure_ascii=False)


def _attempt(
    plan: Plan, statements: Tables, groups: ResultGroups | None, timeout: float | None, bits: Bits
) -> Callable[..., Answer] | None:
    """Run everything that sees data, and return what makes the answer of its noisy integers; None
    if it breaks. The error may be about data, so it is not even kept as a cause.
    """
    try:
        tally = _tally(plan, statements, timeout)
        if plan.workload is not None:
            assert groups is not None
            return partial(finish_groupings, plan, _perturb_groupings(plan, groups, tally, bits))
        selected, noisy = _perturb(plan, groups, tally, bits)
        return partial(finish, plan, selected.rows, noisy)
    except Exception:
        return None


def _tally(plan: Plan, statements: Tables, timeout: float | None) -> Tables:
    """Have the engine compute the exact integers, while files and tables stay unchanged."""
    with plan.source.engine.unchanged():
        return tuple(
            plan.source.engine.tally(statement, timeout=timeout) for statement in statements
        )


def _perturb(
    plan: Plan, public: ResultGroups | None, tally: Tables, bits: Bits
) -> tuple[ResultGroups, tuple[Noisy, ...]]:
    """Select groups; then add noise to each component of those groups, in the plan's order. The
    noisy counts that selected groups are those of the answer.
    """
    statements, bounding = plan.statements, plan.calibration.bounding
    at = {place: i for i, statement in enumerate(statements) for place in statement.components}
    groups, cells_by_block = (
        (public, {}) if public is not None else _select_groups(plan, tally, at, bits)
    )
    cells: list[Integers] = []
    for number, (block, noise) in enumerate(
        zip(plan.calibration.blocks, plan.calibration.noise, strict=True)
    ):
        place = block.places[0]
        if number in cells_by_block:
            cells.append(cells_by_block[number])
            continue
        if plan.components[place].form == "point":
            component = plan.components[place]
            assert component.grid is not None
            points = read_points(tally[at[place]], place, component.grid, groups, bounding)
            chosen = _quantiles(component, noise, points, groups, bits)
            cells.append(integers_of_points(component, with_end(component, chosen)))
            continue
        exact = _exact_cells(plan, block, tally, groups, public=public is not None)
        cells.append(cast("AddsNoise", noise[0]).perturb(exact, bits=bits))
    return groups, tuple(
        _piece(plan, place, cells) for place in range(len(plan.calibration.readings))
    )


def _exact_cells(
    plan: Plan, block: Block, tally: Tables, groups: ResultGroups, *, public: bool
) -> Integers:
    """Return the exact integers of a block, groups × cells."""
    statements = plan.statements
    at = {place: i for i, statement in enumerate(statements) for place in statement.components}

    def read(place: int) -> Integers:
        """Return the exact integers of a component."""
        return read_component(
            statements[at[place]],
            tally[at[place]],
            plan.components[place],
            place,
            groups,
            plan.calibration.bounding,
            public=public,
        )

    if not block.cells:
        return _measure(plan, block.places[0], read(block.places[0]))
    wide = plan.calibration.needs_python_integers(block)
    return combine_sums([read(i) for i in block.places], block.cells, wide=wide)


def _perturb_groupings(
    plan: Plan, groups: ResultGroups, tally: Tables, bits: Bits
) -> tuple[dict[Keys, Integers], ...]:
    """Add noise to the tables that a workload measures: for each block, the noisy integers of each
    measured table. All are sums of one exact table by all keys.
    """
    workload = plan.workload
    assert workload is not None
    noisy: list[dict[Keys, Integers]] = []
    for place, block in enumerate(workload.blocks):
        exact = _exact_cells(plan, block, tally, groups, public=True)
        pooled = workload.pooled[place]
        if pooled is not None:
            noisy.append({(): pooled.perturb(exact, bits=bits)})
            continue
        wide = plan.calibration.needs_python_integers(block)
        table = scale_integers(exact, block.scale, wide=wide).reshape(
            *workload.domain.sizes, exact.shape[1]
        )
        measured: dict[Keys, Integers] = {}
        for keys, noise in workload.noise.items():
            rest = tuple(key for key in range(len(workload.domain.sizes)) if key not in keys)
            additive = noise[place]
            assert additive is not None
            measured[keys] = additive.perturb(np.asarray(table.sum(axis=rest)), bits=bits)
        noisy.append(measured)
    return tuple(noisy)


def _measure(plan: Plan, place: int, cells: Integers) -> Integers:
    """Apply the strategy of cumulative counts to the exact cells; other cells are measured as they
    are. The type of the integers follows from public limits.
    """
    component, bounding = plan.components[place], plan.calibration.bounding
    if component.strategies is None:
        return cells
    strategy = component.strategies.of(bounding.norm)
    return measure_axes((strategy,), cells, 1 << bounding.sum_bits(component))


def _select_groups(
    plan: Plan, tally: Tables, at: Mapping[int, int], bits: Bits
) -> tuple[ResultGroups, dict[int, Integers]]:
    """Select groups by their votes; or by a count, and return its noisy values for these groups, by
    the number of its block.
    """
    selection = plan.calibration.selection
    assert selection is not None
    if selection.place is None:
        selected = selection.mechanism.keep(votes_of(tally[0]), bits=bits)
        return chosen_groups(tally[0], selected, plan.query), {}
    mechanism = cast("SelectsByCount", selection.mechanism)
    table = tally[at[selection.place]]
    counts = counts_of_lines(
        plan.statements[at[selection.place]],
        table,
        plan.components[selection.place],
        selection.place,
        plan.calibration.bounding,
    )
    noisy, selected = mechanism.perturb_all(counts, bits=bits)
    groups = chosen_groups(table, selected, plan.query)
    values = np.zeros((len(groups), 1), dtype=noisy.dtype)
    values[groups.places(table)[selected], 0] = noisy[selected]
    ((block, _),) = plan.calibration.readings[selection.place].parts
    return groups, {block: values}


def _piece(plan: Plan, place: int, cells: Sequence[Integers]) -> Noisy:
    """Read a component from noisy cells."""
    calibration, component = plan.calibration, plan.components[place]
    reading = calibration.readings[place]
    (block, _), *others = reading.parts
    if not others and not calibration.blocks[block].cells:
        is_point = component.form == "point"
        step = component.step if is_point else calibration.step_of(place)
        return Noisy(component.name, cells[block], step, calibration.noise[block][0])
    columns = [
        cells[block][:, [i]] for block, weights in reading.parts for i in range(len(weights))
    ]
    weights = tuple(weight for _, weights in reading.parts for weight in weights)
    # weights alone may need more than 64 bits, also where there is no group
    largest = max((np.abs(column).max(initial=1) for column in columns), default=1)
    is_wide = int(largest) * sum(map(abs, weights)) >= 1 << 62
    values = combine_sums(columns, (weights,), wide=is_wide)
    draws = tuple(
        Draw(mechanism, Fraction(weight), name)
        for mechanism, weight, name in calibration.draws_of(place)
    )
    return Noisy(component.name, values, calibration.step_of(place), LinearNoise(draws))


def _quantiles(
    component: Component,
    noise: tuple[Mechanism, ...],
    rows: tuple[Places, NDArray[np.int64], Integers],
    groups: ResultGroups,
    bits: Bits,
) -> NDArray[np.int64]:
    """Return the quantile of each group. Where noise is added to weights between knots, return
    the ends of its interval, too, and those that hold in all groups at once.
    """
    aggregate, low, high = component.aggregate, component.low, component.high
    assert aggregate is not None
    assert aggregate.q is not None
    pickers, adders = noise[:2], noise[2:]
    count = len(groups)
    if not count:
        return np.zeros((0, 5 if adders else 1), dtype=np.int64)
    chosen = np.stack(
        [cast("PicksPoints", picker).perturb_each(*rows, count, bits=bits) for picker in pickers],
        axis=1,
    )
    if not adders:
        return chosen
    knots, adder = place_knots(chosen, low, high), cast("AddsNoise", adders[0])
    noisy = adder.perturb(weigh_bins(*rows, knots), bits=bits)
    bins = QuantileBins(aggregate.q, low, high, knots, noisy, adder.law)
    missing = 1 - aggregate.confidence
    return np.stack(
        [bins.values(), *bins.interval(missing), *bins.interval(missing / count)], axis=1
    )


def finish_groupings(
    plan: Plan,
    noisy: tuple[dict[Keys, Integers], ...],
    *,
    ledger: Ledger,
    receipt: Receipt,
    left: Guarantee | None = None,
) -> Answer:
    """Reconcile the measured tables, and make one answer of all groupings. The noisy integers are
    public: all of this is post-processing.
    """
    workload = plan.workload
    assert workload is not None
    cells = reconcile_blocks(workload, noisy)
    answers = []
    for table, keys in zip(plan.tables, workload.requested, strict=True):
        pieces = tuple(
            _piece(table, place, [tables[keys] for tables in cells])
            for place in range(len(table.calibration.readings))
        )
        rows = list(itertools.product(*table.query.domains))
        answers.append(finish(table, rows, pieces, ledger=ledger, receipt=receipt, left=left))
    rounded = whole_counts(answers, plan.query.keys)
    stacked = stack_tables(rounded, plan.query.keys, {"question": plan.text})
    return replace(stacked, rules=(*explain_rules(plan), *explain_measured(workload)))


def finish(
    plan: Plan,
    groups: Sequence[tuple[Key, ...]],
    noisy: tuple[Noisy, ...],
    *,
    ledger: Ledger,
    receipt: Receipt,
    left: Guarantee | None = None,
) -> Answer:
    """Make the answer from noisy integers. Its time stamp and the budget left are those of the
    charge: when the work ended would depend on data.
    """
    declared, bounding = plan.query.rows.declaration, plan.calibration.bounding
    facts = {
        "dataset": plan.query.rows.dataset,
        "unit": declared.unit_name,
        "relation": declared.relation,
        "question": plan.text,
        "rows": plan.query.rows.text,
        "declaration": plan.declared,
        "left_out": explain_left_out(plan),
        "unmeasured": explain_unmeasured(plan),
        "mechanisms": [record(mechanism) for mechanism in plan.mechanism.parts],
        "released": receipt.when[:19] + receipt.when[23:],  # in seconds
        "versions": {"sfumato": __version__, "engine": plan.source.engine.version},
    }
    return Answer(
        keys=plan.query.keys,
        rows=tuple(groups),
        pieces=noisy,
        columns=tuple(
            Column(c.name, c.kind, c.components, c.text, plan.numbers_of(c), c.edges)
            for c in plan.columns
        ),
        cost=receipt.cost,
        promise=plan.promise,
        receipts=(Paid.by(receipt),),
        rules=tuple(filter(None, (*explain_rules(plan), "" if groups else explain_no_group(plan)))),
        facts=facts,
        budget=ledger.budget,
        left=ledger.remaining if left is None else left,
        weighing=Weighing(bounding.rule, bounding.rows, bounding.groups, bounding.bits),
        complete=plan.query.public,
    )
