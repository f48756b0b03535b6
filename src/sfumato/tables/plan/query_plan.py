"""Plan a release: what it would compute, which noise it would add, its cost and its errors.

A plan is public: planning reads no data.

*Cost*      A Guarantee, of everything together.
*Error*     Half the width of the interval around each answer. For means and spreads it depends on
            the number of rows of a group, which is not public: the plan assumes `group_size` rows.
            For quantiles it is a number of rows.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ...errors import Refused
from ...exact import effort
from ...exact.balls import up
from ...exact.numbers import Number, probability
from ...guarantees import Guarantee
from ...guarantees.meaning.literature import WITH_DELTA
from ...mechanisms import Combined, Gaussian, Laplace, WeightedQuantile
from ...noise.weighted_sums import Spread, SumLaw, sum_bound
from ...templates.summary import ShownText, Summarized, Summary
from ..aggregates import KINDS
from ..aggregates.component import Component
from ..aggregates.prefix_noise import prefix_bounds
from ..aggregates.rank_ends import expected_half_width
from ..aggregates.tree_noise import largest_half_width
from ..marginals.parts import Keys
from ..query.group_keys import count_groups
from ..query.stages import Query
from . import plan_refusals as refusals
from .choose_noise import TOTAL, Calibration, calibrate
from .components import ColumnPlan, QueryComponents, components_of
from .plan_groupings import PlannedGroupings, plan_workload
from .read_results import ResultGroups, public_groups
from .statements import EngineStatement, build_statements

if TYPE_CHECKING:
    from ..engine.sources import TableSource

MOST_CELLS = 10_000_000
_ALL_ROWS = Component(TOTAL, "one", pooled=True)
MOST_KEPT, LONGEST_KEPT = 32, 20_000  # cached queries of a source, and characters of each
_MUCH = 5  # the error of a number of different values that the plan warns of
_NONE = Fraction(0)
_PRODUCT, _SUM = 62, 126  # bits of a weight times an integer, and of a sum of them


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Summarized):
    """A query and the noise that keeps a promise."""

    query: Query
    promise: Guarantee
    components: tuple[Component, ...]
    columns: tuple[ColumnPlan, ...]
    calibration: Calibration
    source: TableSource = field(repr=False)
    group_size: int = 1000
    workload: PlannedGroupings | None = None  # several groupings, whose tables agree

    @property
    def mechanism(self) -> Combined:
        """Return all of the noise as one mechanism, for one ledger entry."""
        return self.calibration.mechanism

    @property
    def cost(self) -> Guarantee:
        return self.mechanism.promise

    @property
    def kinds(self) -> dict[str, str]:
        """Return the kind of each column: "count", "mean", …"""
        return {column.name: column.kind for column in self.columns}

    @cached_property
    def statements(self) -> tuple[EngineStatement, ...]:
        """Return what the engine has to compute, built from the same components and bounds as the
        noise. Cached per query; not cached when truncation or COUNT DISTINCT uses a per-plan
        secret.
        """
        bounding, cache = self.calibration.bounding, self.source.statements
        drawn = bounding.truncation or any(
            component.form == "distinct" for component in self.components
        )
        key = (
            None
            if drawn or len(self.text) > LONGEST_KEPT
            else (
                self.text,
                self.declared,
                bounding,
                tuple(component.key for component in self.components),
                self.needs_ballot,
            )
        )
        statements: tuple[EngineStatement, ...] | None = cache.pop(key, None)
        if statements is None:
            statements = build_statements(
                self.source.table,
                self.query,
                self.components,
                bounding,
                secrets.token_hex(16),
                self.source.stored,
                ballot=self.needs_ballot,
            )
        if key is not None:
            cache[key] = statements  # as the latest
            for oldest in list(cache)[:-MOST_KEPT]:
                cache.pop(oldest, None)
        return statements

    @property
    def needs_ballot(self) -> bool:
        """Tell whether votes of units select the groups."""
        selection = self.calibration.selection
        return selection is not None and selection.place is None

    @cached_property
    def text(self) -> str:
        """Return the query as text."""
        return self.query.text

    @cached_property
    def declared(self) -> str:
        """Return the declaration as text."""
        return self.query.rows.declared

    @cached_property
    def groups(self) -> ResultGroups | None:
        """Return the groups of the answer if they are public, else None."""
        if not self.query.public:
            return None
        schema = self.statements[0].expression.schema()
        return public_groups(
            self.query, [schema[f"k{i}"].to_pyarrow() for i in range(len(self.query.keys))]
        )

    @cached_property
    def tables(self) -> tuple[Plan, ...]:
        """Return the plan of each table of several groupings; none for a plain question."""
        if self.workload is None:
            return ()
        return tuple(
            Plan(
                restrict_keys(self.query, keys),
                self.promise,
                self.components,
                self.columns,
                self.workload.tables[keys],
                self.source,
                self.group_size,
            )
            for keys in self.workload.requested
        )

    @property
    def group_count(self) -> int:
        """Return the number of groups of the answer, where they are public."""
        shown = self.tables or (self,)
        return sum(count_groups(table.query) for table in shown)

    def numbers_of(self, column: ColumnPlan) -> Mapping[str, Fraction]:
        """Return the public numbers that finishing a column needs."""
        strategies = self.components[column.components[0]].strategies
        if strategies is None:
            return column.numbers
        return {**column.numbers, **strategies.numbers(self.calibration.bounding.norm)}

    @property
    def sql(self) -> tuple[str, ...]:
        """Return the statements in the engine's language. The fast path may sum plain columns of
        files without the engine, to the same integers.
        """
        return tuple(self.source.engine.sql(statement.expression) for statement in self.statements)

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float]:
        """Return the expected ± of each column at this confidence; of several groupings, in the
        table with the largest error.
        """
        level, size = (
            probability(confidence, "confidence", zero=False),
            group_size or self.group_size,
        )
        if self.tables:
            errors = [table.error(level, group_size=size) for table in self.tables]
            return {name: max(error[name] for error in errors) for name in errors[0]}
        return {column.name: self._error(column, level, size) for column in self.columns}

    def about(self, name: str, error: float) -> str:
        """Describe the expected error of a column."""
        kind = next(column.kind for column in self.columns if column.name == name)
        size = f" in a group of {self.group_size} rows"
        away = {"noise": "", "size": size, "rank": " rows away"}[KINDS[kind].error_of]
        about = f"± {error:.4g}{away}, with probability 0.95"
        if kind == "count_distinct" and error >= _MUCH:
            about += f"; it tells little unless there are many more than {error:.0f} values"
        return about

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before paying: that groups need very many people to be shown."""
        from .explain_groups import warn_of_size

        return warn_of_size(self)

    def explain(self) -> str:
        """Describe the plan in sentences."""
        from .explain import explain

        return ShownText(explain(self))

    def __str__(self) -> str:
        return self.explain()

    def _summary(self) -> Summary:
        from .explain import explain_rules

        return summarize_plan(
            self.cost,
            [(name, self.about(name, error)) for name, error in self.error().items()],
            self.text,
            [rule for rule in explain_rules(self) if rule.startswith(WITH_DELTA)],
        )

    def _error(self, column: ColumnPlan, level: Fraction, size: int) -> float:
        effort.check()
        calibration, kind = self.calibration, KINDS[column.kind]
        component = self.components[column.components[0]]
        if component.form == "point":
            first, *ends = calibration.noise_of(column.components[0])
            assert isinstance(first, WeightedQuantile)
            if ends:
                added = ends[-1]
                assert isinstance(added, Laplace | Gaussian)
                half = expected_half_width(added.law, first.q, 1 - level, first.shift)
                return up(Fraction(half) / (1 << calibration.bounding.bits))
            return up(
                Fraction(abs(first.shift) + first.rank_error(level), 1 << calibration.bounding.bits)
            )
        if component.tree is not None:
            first = calibration.noise_of(column.components[0])[0]
            assert isinstance(first, Laplace | Gaussian)
            return up(
                Fraction(
                    largest_half_width(first.law, component.tree, column.numbers["q"], 1 - level)
                )
                * calibration.bounding.step(component)
            )
        if component.strategies is not None:
            first = calibration.noise_of(column.components[0])[0]
            assert isinstance(first, Laplace | Gaussian)
            strategy = component.strategies.of(calibration.bounding.norm)
            widest = float(prefix_bounds(strategy, first.law, 1 - level).max())
            return up(Fraction(widest) * calibration.bounding.step(component))
        if kind.is_quotient:
            error = kind.error(column.numbers, (self._quotient_width(column, level),), size)
        else:
            each = 1 - (1 - level) / len(column.components)  # of several, each by itself
            widths = [self._width(i, each) for i in column.components]
            error = kind.error(column.numbers, widths, size)
        return math.inf if error is None else up(error)

    def _width(self, place: int, level: Fraction) -> Fraction:
        return self._law(place).half_width(level) * self.calibration.step_of(place)

    def _law(self, place: int) -> SumLaw:
        draws = self.calibration.draws_of(place)
        return SumLaw.of((mechanism.law, Fraction(weight)) for mechanism, weight, _ in draws)

    def _quotient_width(self, column: ColumnPlan, level: Fraction) -> Fraction:
        """Bound the noise of S − θ·N for the θ between the limits for which it is largest."""
        laws: dict[str, Spread] = {}
        tops, bottoms = (dict[str, Fraction](), dict[str, Fraction]())
        for place, weights in zip(column.components, (tops, bottoms), strict=True):
            step = self.calibration.step_of(place)
            for mechanism, weight, name in self.calibration.draws_of(place):
                laws[name] = mechanism.law
                weights[name] = weights.get(name, _NONE) + weight * step
        return max(
            sum_bound(
                SumLaw.of(
                    (law, tops.get(name, _NONE) - theta * bottoms.get(name, _NONE))
                    for name, law in laws.items()
                ).terms,
                1 - level,
            )
            for theta in KINDS[column.kind].extreme_quotients(column.numbers)
        )


def summarize_plan(
    cost: Guarantee, errors: Sequence[tuple[str, str]], text: str, notes: Sequence[str] = ()
) -> Summary:
    """Summarize a plan: its cost, the expected error of each column, and the question."""
    return Summary(
        title=f"plan · cost {cost.numbers_text} · nothing is read or charged",
        heads=("column", "expected error"),
        rows=errors,
        notes=[*notes, text.replace("\n", " · "), "explain() says it in full"],
    )


def restrict_keys(query: Query, keys: Keys) -> Query:
    """Return the question about one of several groupings."""
    return replace(
        query,
        keys=tuple(query.keys[key] for key in keys),
        domains=tuple(query.domains[key] for key in keys),
        sets=(),
        fair=False,
        is_crossed=True,
    )


def _plan_groupings(
    query: Query,
    promise: Guarantee,
    source: TableSource,
    group_size: int,
    needed: QueryComponents,
) -> Plan:
    """Plan several groupings of the same rows together."""
    try:
        workload = plan_workload(query, needed.components, needed.columns, promise)
    except Refused as refused:
        if refused.code != "noise.scale":
            raise
        largest = max(needed.components, key=lambda component: component.largest)
        raise refusals.NOISE_TOO_LARGE(component=largest.name) from None
    calibration = workload.tables[query.sets[0]]
    every = replace(calibration, bounding=replace(calibration.bounding, grouped=True))
    check_sums(every)
    return Plan(
        query, promise, every.components, needed.columns, every, source, group_size, workload
    )


def plan(
    query: Query,
    promise: Guarantee,
    source: TableSource,
    group_size: int = 1000,
    needed: QueryComponents | None = None,
) -> Plan:
    """Plan a query: choose the best noise for a promise. Reads no data. `needed` is
    `components_of(query)`, for callers that plan one query for several promises.
    """
    effort.check()
    if isinstance(group_size, bool) or not isinstance(group_size, int) or group_size < 1:
        raise refusals.GROUP_SIZE_BELOW_ONE(group_size=group_size)
    needed = components_of(query) if needed is None else needed
    components = needed.components
    cells = count_groups(query) * max(component.cells for component in components)
    if query.public and cells > MOST_CELLS:
        raise refusals.TOO_MANY_CELLS(cells=cells, most=MOST_CELLS)
    if query.sets:
        return _plan_groupings(query, promise, source, group_size, needed)
    if not query.public and any(component.name == "count" for component in components):
        components = (*components, _ALL_ROWS)
    try:
        calibration = calibrate(query, components, needed.columns, promise, group_size)
    except Refused as refused:
        if refused.code != "noise.scale":
            raise
        largest = max(components, key=lambda component: component.largest)
        raise refusals.NOISE_TOO_LARGE(component=largest.name) from None
    check_sums(calibration)
    return Plan(
        query, promise, calibration.components, needed.columns, calibration, source, group_size
    )


def check_sums(calibration: Calibration) -> None:
    """Refuse sums that could overflow the engine's integers."""
    bounding = calibration.bounding
    for component in calibration.components:
        if (
            bounding.bits + component.largest.bit_length() > _PRODUCT
            or bounding.sum_bits(component) > _SUM
        ):
            raise refusals.SUMS_TOO_LARGE(component=component.name)
