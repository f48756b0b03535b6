"""Let stored counts of a table enter a report: more exact tables for the same cost.

*Fits*      Stored tables are by keys of the report, with the same values, and weigh units as the
            report does. They count the same rows: keys of the report that a stored table lacks
            lose no row.
*After*     The report is charged, measured and stored as ever. What follows is post-processing of
            two releases (`tables.marginals.combine_sources`), so it costs nothing.
*Once*      A report that was answered before is itself among the stored answers: it does not count
            twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

import numpy as np

from ...answers.answer import Answer
from ...answers.answer_records import Key, Noisy, Weighing
from ...answers.stack_tables import stack_tables, whole_counts
from ...exact.exact_ratios import Integers
from ...guarantees import Guarantee
from ...ledger import Ledger
from ...tables.marginals.combine_sources import NoisyRelease, combine_sources
from ...tables.marginals.parts import Keys, positions
from ...tables.marginals.reconcile import Doubles, round_together
from ...tables.marginals.reconciled_noise import MeasuredDraws, ReconciledNoise
from ...tables.plan.bounding import Bounding
from ...tables.query.stages import Query
from ...templates.summary import Summarized, Summary
from .stored_counts import (
    LeftOutAnswer,
    StoredCounts,
    counts_of,
    label_of,
    read_stored_counts,
)

_FINER = 12  # bits of the least deviation of a combined table, in the most that rounding moves it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoredTables(Summarized):
    """The stored answers that may enter a report, and those that may not, with the reason."""

    used: tuple[StoredCounts, ...]
    left_out: tuple[LeftOutAnswer, ...]

    def _summary(self) -> Summary:
        count = (
            "1 stored answer enters"
            if len(self.used) == 1
            else (f"{len(self.used)} stored answers enter")
        )
        rows = [
            (
                str(each.entry),
                "; ".join(
                    f"{', '.join(keys) or 'total'} ± {1.96 * each.deviation(*keys):.4g}"
                    for keys in each.groupings
                ),
            )
            for each in self.used
        ]
        rows += [(str(each.entry), f"left out: {each.reason}") for each in self.left_out]
        return Summary(
            title=f"{count} the report, free of charge", heads=("entry", "tables"), rows=rows
        )


def weighing_of(bounding: Bounding) -> Weighing:
    """Return how a plan bounds its units, as its answer will say."""
    return Weighing(bounding.rule, bounding.rows, bounding.groups, bounding.bits)


def find_stored(
    query: Query,
    weighing: Weighing,
    ledger: Ledger,
    *,
    share: str | None = None,
    declared: str | None = None,
) -> StoredTables:
    """Return the stored answers that a report may use. Reads the ledger, no data."""
    usable, left_out = read_stored_counts(query.rows, ledger, share=share, declared=declared)
    used = []
    for stored in usable:
        reason = _misfit(stored, query, weighing)
        if reason:
            left_out.append(LeftOutAnswer(stored.entry, stored.question, reason))
        else:
            used.append(stored)
    return StoredTables(tuple(used), tuple(left_out))


def _misfit(stored: StoredCounts, query: Query, weighing: Weighing) -> str:
    """Return why stored counts do not fit a report; "" if they do."""
    more = [key for key in stored.keys if key not in query.keys]
    if more:
        return f"it is by {', '.join(more)}, too"
    for key, values in zip(stored.keys, stored.values, strict=True):
        domain = query.domains[query.keys.index(key)]
        if set(map(label_of, values)) != set(map(label_of, domain)):
            return f"{key} has other public keys"
    partial = [key for key in query.keys if key not in stored.keys and not _is_complete(query, key)]
    if partial:
        return f"it counts rows with any {', '.join(partial)}, the report those with a public one"
    if stored.weighing != weighing:
        return f"it weighs rows otherwise: {stored.weighing}"
    return ""


def _is_complete(query: Query, key: str) -> bool:
    """Tell whether every row surely has one of the public values of a key."""
    implied, values = query.implied(key), query.domains[query.keys.index(key)]
    return implied is not None and not implied.stated and (not implied.null or None in values)


def combine_stored(
    answer: Answer, query: Query, ledger: Ledger, *, share: str | None = None
) -> Answer:
    """Return the tables of a report, estimated from its noisy numbers and the stored ones. An
    answer without stored counts beside it stays as it is.
    """
    fresh = counts_of(answer, -1)
    if isinstance(fresh, str):
        return answer
    declared = str(answer.facts["declaration"])
    stored = find_stored(query, fresh.weighing, ledger, share=share, declared=declared)
    paid = {receipt.number for receipt in answer.receipts}
    used = [each for each in stored.used if each.entry not in paid]
    if not used:
        return answer
    requested = tuple(positions(table.keys, fresh.keys) for table in answer.tables)
    domain = fresh.domain
    combined = combine_sources(
        domain, [fresh.release, *(_aligned(each, fresh) for each in used)], requested
    )
    step, laws = _choose_grid(combined.draws, answer, requested)
    entries = ", ".join(str(number) for number in sorted({each.entry for each in used}))
    note = f"stored answers enter, free of charge: those of entries {entries}"
    rounded = round_together(combined.tables, float(step))
    name = answer.tables[0].pieces[answer.tables[0].columns[0].pieces[0]].name
    tables = [
        replace(
            table,
            pieces=(Noisy(name, _in_order(rounded[keys], table, keys, fresh), step, law),),
            columns=tuple(replace(column, pieces=(0,)) for column in table.columns),
            receipts=tuple(
                dict.fromkeys(r for each in (answer, *_answers(used)) for r in each.receipts)
            ),
            cost=reduce(lambda a, b: a + b, _costs(answer, used)),
            processing=(),
            rules=(*table.rules, note),
        )
        for table, keys, law in zip(answer.tables, requested, laws, strict=True)
    ]
    keys = tuple(key for key in answer.keys if key in fresh.keys)
    result = stack_tables(whole_counts(tables, keys), keys, {"question": answer.facts["question"]})
    return replace(result, rules=(*answer.rules, note), recalled=answer.recalled)


def _answers(used: Sequence[StoredCounts]) -> list[Answer]:
    return [each.answer for each in used]


def _costs(answer: Answer, used: Sequence[StoredCounts]) -> list[Guarantee]:
    """Return what the report cost, and each charge that paid for stored counts, once."""
    return [answer.cost, *{each.entry: each.cost for each in used}.values()]


def _aligned(stored: StoredCounts, fresh: StoredCounts) -> NoisyRelease:
    """Return stored tables with the axes and the order of values of the report."""
    place = {i: fresh.keys.index(key) for i, key in enumerate(stored.keys)}
    order = {
        place[i]: [at[label_of(value)] for value in fresh.values[place[i]]]
        for i, at in enumerate(map(_places, stored.values))
    }

    def move(keys: Keys) -> Keys:
        return tuple(sorted(place[key] for key in keys))

    tables: dict[Keys, Doubles] = {}
    for keys, table in stored.release.tables.items():
        moved = move(keys)
        values = np.transpose(table, [[place[key] for key in keys].index(key) for key in moved])
        for axis, key in enumerate(moved):
            values = np.take(values, order[key], axis=axis)
        tables[moved] = values
    measured = tuple(replace(each, keys=move(each.keys)) for each in stored.release.measured)
    return NoisyRelease(tables, measured)


def _places(values: Sequence[Key]) -> dict[tuple[type, Key], int]:
    """Return the place of each value of a key."""
    return {label_of(value): place for place, value in enumerate(values)}


def _choose_grid(
    draws: Mapping[Keys, tuple[MeasuredDraws, ...]], answer: Answer, requested: Sequence[Keys]
) -> tuple[Fraction, list[ReconciledNoise]]:
    """Return a step that is fine beside the noise of every table, and the laws in its steps."""
    first = answer.tables[0]
    step = first.pieces[first.columns[0].pieces[0]].step
    least = min(ReconciledNoise(draws[keys], Fraction(0)).variance for keys in requested) ** 0.5
    bits = _FINER + max(len(keys) for keys in requested)
    step /= 1 << max(0, math.ceil(bits - math.log2(least / float(step))))
    return step, [
        ReconciledNoise(
            tuple(
                MeasuredDraws(
                    each.mechanism, tuple((weight / step, count) for weight, count in each.weights)
                )
                for each in draws[keys]
            ),
            Fraction(1 << max(len(keys), 1)),
        )
        for keys in requested
    ]


def _in_order(counts: Integers, table: Answer, keys: Keys, fresh: StoredCounts) -> Integers:
    """Return the cells of a table in the order of its rows."""
    order = [table.keys.index(fresh.keys[key]) for key in keys]
    places = [_places(fresh.values[key]) for key in keys]
    cells = [
        tuple(place[label_of(row[at])] for place, at in zip(places, order, strict=True))
        for row in table.rows
    ]
    return np.array([[counts[cell]] for cell in cells])
