"""Read the noisy counts of a table that the ledger stores, for whoever may use them again.

*Free*      Stored answers are public and paid for: to read them, and to compute with them, costs
            nothing.
*Same*      An answer is about the same counts only if the dataset, the declaration (with the
            owner's label of the version), the conditions on rows and the weights of units are
            those of the new question. Everything else is left out, with the reason.
*Law*       The noise of every cell has to be on record: which tables were measured, with which
            noise. So what is computed from the counts has an exact variance, too.
*Shares*    An analyst with a share uses the answers that this share has seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...answers.answer_records import Draw, Key, LinearNoise, Noisy, Weighing
from ...guarantees import Guarantee
from ...ledger import Ledger
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.mechanism import Mechanism
from ...tables.marginals.combine_sources import MeasuredTable, NoisyRelease
from ...tables.marginals.parts import Domain, Keys, Reconciliation, positions
from ...tables.marginals.reconciled_noise import ReconciledNoise
from ...tables.query.stages import Rows

Doubles = NDArray[np.float64]
_ANSWER = b'"sfumato":"answer"'
_COUNT = "count()"


@dataclass(frozen=True, slots=True, eq=False)
class StoredCounts:
    """The noisy counts of rows in a stored answer: one table, or tables that agree. `entry` is the
    number of the charge that paid, `cost` what it cost, `weighing` how units were bounded.
    """

    entry: int
    question: str
    keys: tuple[str, ...]
    values: tuple[tuple[Key, ...], ...]
    release: NoisyRelease
    weighing: Weighing
    answer: Answer

    @property
    def cost(self) -> Guarantee:
        """The cost of the charge that paid for these counts."""
        return self.answer.cost

    @property
    def domain(self) -> Domain:
        """The numbers of public values of the keys."""
        return Domain(tuple(map(len, self.values)))

    @property
    def groupings(self) -> tuple[tuple[str, ...], ...]:
        """The keys of each table."""
        return tuple(tuple(self.keys[key] for key in keys) for keys in self.release.tables)

    def counts(self, *keys: str) -> Doubles:
        """Return the estimated counts of a table, an axis for each key in the order of `keys`."""
        order = positions(keys, self.keys)
        table = self.release.tables[order]
        return np.transpose(table, [order.index(self.keys.index(key)) for key in keys])

    def deviation(self, *keys: str) -> float:
        """Return the standard deviation of the noise of a cell of a table."""
        return math.sqrt(self.release.variance(self.domain, positions(keys, self.keys)))


@dataclass(frozen=True, slots=True)
class LeftOutAnswer:
    """A stored answer that cannot be used, and the reason."""

    entry: int
    question: str
    reason: str


def read_stored_counts(
    rows: Rows, ledger: Ledger, *, share: str | None = None, declared: str | None = None
) -> tuple[list[StoredCounts], list[LeftOutAnswer]]:
    """Return the stored counts of these rows by public keys, and the answers that are left out.
    Reads the ledger, no data. `declared` is the declaration, if it is not that of the rows.
    """
    usable: list[StoredCounts] = []
    left_out: list[LeftOutAnswer] = []
    for stored in ledger.answers(share=share):
        if _ANSWER not in stored.answer:
            continue  # a stream, a census or a learned limit
        answer = Answer.from_json(stored.answer)
        question = str(answer.facts.get("question", ""))
        reason = _check_rows(answer, rows, declared or rows.declared)
        counts = reason or counts_of(answer, stored.number)
        if isinstance(counts, str):
            left_out.append(LeftOutAnswer(stored.number, question, counts))
        else:
            usable.append(counts)
    return usable, left_out


def _check_rows(answer: Answer, rows: Rows, declared: str) -> str:
    """Return why an answer is not about these rows; "" if it is."""
    facts = answer.facts
    if facts.get("dataset") != rows.dataset or facts.get("declaration") != declared:
        return "its declaration, or the version of its data, differs"
    return "" if facts.get("rows") == rows.text else "it counts other rows"


def counts_of(answer: Answer, entry: int) -> StoredCounts | str:
    """Return the counts of rows in an answer with their noise, or why it has none to use."""
    stacked = answer.tables or (answer,)
    names = [column.name for column in stacked[0].columns if column.text == _COUNT]
    if not names:
        return "it has no COUNT(*)"
    if not answer.complete or answer.places is not None:
        return "its groups were chosen from the data"
    if (weighing := stacked[0].weighing) is None or not weighing.adds:
        return "it weighs the rows of a unit by the groups they are in, so it counts other numbers"
    values = {
        key: tuple({label_of(row[place]): row[place] for row in table.rows}.values())
        for table in stacked
        for place, key in enumerate(table.keys)
    }
    keys = tuple(key for key in answer.keys if key in values)
    tables: dict[Keys, Doubles] = {}
    pieces: dict[Keys, Noisy] = {}
    for table in stacked:
        column = table.column(names[0])
        piece, order = table.pieces[column.pieces[0]], positions(table.keys, keys)
        counts = _as_array(table, piece, values)
        if counts is None:
            return "its groups are not all combinations of the values of its keys"
        places = [table.keys.index(keys[key]) for key in order]
        tables[order], pieces[order] = np.transpose(counts, places), piece
    domain = Domain(tuple(len(values[key]) for key in keys))
    measured = _measured_tables(pieces, domain)
    if measured is None:
        return "the law of its noise is not on record"
    return StoredCounts(
        entry,
        str(answer.facts.get("question", "")),
        keys,
        tuple(values[key] for key in keys),
        NoisyRelease(tables, measured),
        weighing,
        answer,
    )


def _as_array(table: Answer, piece: Noisy, values: Mapping[str, tuple[Key, ...]]) -> Doubles | None:
    """Return the counts of a table with an axis for each of its keys; None if cells are missing."""
    places = [{label_of(key): i for i, key in enumerate(values[name])} for name in table.keys]
    counts = np.full([len(each) for each in places], np.nan)
    for row, value in zip(table.rows, piece.values[:, 0].tolist(), strict=True):
        at = tuple(place[label_of(key)] for place, key in zip(places, row, strict=True))
        counts[at] = float(value * piece.step)
    return None if np.isnan(counts).any() else counts


def label_of(key: Key) -> tuple[type, Key]:
    """Return a label that tells 1 from True."""
    return type(key), key


def _measured_tables(
    pieces: Mapping[Keys, Noisy], domain: Domain
) -> tuple[MeasuredTable, ...] | None:
    """Return what was measured for reconciled tables, or for one table by itself."""
    if len(pieces) == 1:
        ((keys, piece),) = pieces.items()
        if all(isinstance(draw.mechanism, Additive) for draw in piece.draws):
            noise_of_cell = tuple(
                (cast("Additive", draw.mechanism), draw.weight * piece.step) for draw in piece.draws
            )
            return (MeasuredTable(keys, noise_of_cell),)
    measured: dict[Keys, MeasuredTable] = {}
    weights: dict[Keys, list[tuple[Keys, Fraction, Fraction]]] = {}
    for keys, piece in pieces.items():
        draws_of_piece = _draws_of(piece.mechanism)
        noise = draws_of_piece[0].mechanism
        if any(draw.mechanism != noise for draw in draws_of_piece):
            return None  # cells of several blocks, whose tables have other shares
        if not isinstance(noise, ReconciledNoise):
            return None
        for source in noise.draws:
            if source.keys is None or source.precision is None:
                return None  # an older version did not record them
            measured[source.keys] = MeasuredTable(
                source.keys,
                tuple((source.mechanism, draw.weight) for draw in draws_of_piece),
                source.precision,
            )
            largest = max((abs(weight) for weight, _ in source.weights), default=Fraction(0))
            weights.setdefault(keys, []).append((source.keys, largest, piece.step))
    step = _step_of_measured(weights, measured, domain)
    return (
        None
        if step is None
        else tuple(
            MeasuredTable(
                each.keys,
                tuple((mechanism, weight * step) for mechanism, weight in each.draws),
                each.precision,
            )
            for each in measured.values()
        )
    )


def _draws_of(mechanism: Mechanism) -> tuple[Draw, ...]:
    return (
        mechanism.draws if isinstance(mechanism, LinearNoise) else (Draw(mechanism, Fraction(1)),)
    )


def _step_of_measured(
    weights: Mapping[Keys, list[tuple[Keys, Fraction, Fraction]]],
    measured: Mapping[Keys, MeasuredTable],
    domain: Domain,
) -> Fraction | None:
    """Return the value of one step of the measured integers: the weights on record are those of
    least squares, in steps of the finer grid of the estimates. None if they are not.
    """
    by = Reconciliation(domain, {keys: each.precision for keys, each in measured.items()})
    steps = set()
    for keys, recorded in weights.items():
        largest: dict[Keys, Fraction] = {}
        for each in by.noise_of(keys):
            largest[each.measured] = max(largest.get(each.measured, Fraction(0)), abs(each.weight))
        if set(largest) != {of for of, _, _ in recorded}:
            return None
        steps |= {weight * step / largest[of] for of, weight, step in recorded}
    return steps.pop() if len(steps) == 1 else None
