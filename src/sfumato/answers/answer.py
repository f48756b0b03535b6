"""The answer to a query: values, intervals and cost, ready to be published.

*Frozen*    An answer is a record of noisy integers and public facts. Everything computed from it
            is post-processing, and free.
*Interval*  for the bounded query: values clipped, units bounded as the rules say. What clipping
            removed is estimated separately (`clipped`), where it was paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number
from ..guarantees import Guarantee
from . import answer_refusals as refusals
from . import intervals
from .answer_records import Column, Key, Noisy, Paid, Weighing
from .date_columns import as_dates, holds_dates
from .plain_json import to_plain_json
from .validate_answer import check_answer

if TYPE_CHECKING:
    from pathlib import Path

    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure

    from .cards.card import Card
    from .proportions import Share


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Answer:
    """Released groups with the columns of the query, their intervals and their cost.

    Groups are in the order of their keys. A query without GROUP BY has one group without a key.
    """

    keys: tuple[str, ...] = ()
    rows: tuple[tuple[Key, ...], ...] = ((),)
    pieces: tuple[Noisy, ...]
    columns: tuple[Column, ...]
    cost: Guarantee
    promise: Guarantee | None = None
    receipts: tuple[Paid, ...] = ()
    rules: tuple[str, ...] = ()
    processing: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    budget: Guarantee | None = None  # of the dataset, at the time of the release
    left: Guarantee | None = None  # of the budget, after the release
    recalled: str = ""  # the time of the first release, if this is a stored answer
    weighing: Weighing | None = None  # how units were bounded; None if that was not recorded
    complete: bool = True  # whether every group is here: none was withheld or left out
    tables: tuple[Answer, ...] = ()  # of several groupings, whose rows this answer stacks
    places: tuple[int, ...] | None = None  # of its rows among theirs, if it is not all in order

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", to_plain_json(self.facts))
        object.__setattr__(self, "columns", tuple(self.columns))
        check_answer(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the value columns, without the keys."""
        return tuple(column.name for column in self.columns)

    @property
    def receipt(self) -> Paid | None:
        """The ledger entry that paid for this answer; None if several did, as for a merged one."""
        return self.receipts[0] if len(self.receipts) == 1 else None

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column: a number for each group, a row of bins for a histogram, or the keys."""
        if name in self.keys:
            key_values = np.empty(len(self.rows), dtype=object)
            key_values[:] = [row[self.keys.index(name)] for row in self.rows]
            return key_values
        column = self.column(name)
        values = intervals.values(self, column)
        if holds_dates(column):
            return as_dates(values)
        return (
            values.astype(np.int64)
            if column.processed is not None
            and column.processed.is_whole
            and np.abs(values).max(initial=0.0) < 2.0**53
            else values
        )

    def interval(
        self, name: str, confidence: Number = 0.95, *, simultaneous: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper ends. Each cell's interval holds with probability
        `confidence`; with `simultaneous`, all cells of the column hold together.

        Where the column's own noisy values chose the groups that are shown (HAVING, ORDER BY …
        LIMIT, `top`), all shown cells hold together in any case. The ends of a column of dates are
        dates (datetime64), too.
        """
        column = self.column(name)
        low, high = intervals.interval(self, column, confidence, simultaneous=simultaneous)
        if holds_dates(column):
            ends = as_dates(low, np.floor), as_dates(high, np.ceil)
            return cast("tuple[NDArray[np.float64], NDArray[np.float64]]", ends)
        return low, high

    def column(self, name: str) -> Column:
        """Return the record of a column, by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        near = get_close_matches(str(name), [*self.names, *self.keys], 1, 0.4) or [self.names[0]]
        raise refusals.UNKNOWN_COLUMN(
            name=name, columns=", ".join((*self.keys, *self.names)), near=near[0]
        )

    def bins(self, name: str) -> NDArray[np.float64]:
        """Return the edges of a histogram: one more than it has bins."""
        column = self.column(name)
        if not column.is_binned:
            raise refusals.NOT_A_HISTOGRAM(name=name, kind=column.kind)
        return np.array([float(edge) for edge in column.edges])

    def value(self, name: str | None = None, /, **keys: Key) -> float:
        """Return the number in one cell: `answer.value()` if the answer has one cell, else
        `answer.value("n", city="Roma")`.
        """
        matching = [
            i
            for i, row in enumerate(self.rows)
            if all(k in self.keys and row[self.keys.index(k)] == v for k, v in keys.items())
        ]
        if name is None and len(self.columns) != 1:
            raise refusals.CELL_WITHOUT_COLUMN(count=len(self.columns), column=self.names[0])
        column = self.column(name if name is not None else self.names[0])
        if column.is_binned:
            raise refusals.CELL_OF_HISTOGRAM(name=column.name)
        if len(matching) != 1:
            example = zip(self.keys, self.rows[0] if self.rows else (), strict=False)
            arguments = ", ".join([repr(column.name), *(f"{k}={v!r}" for k, v in example)])
            raise refusals.CELL_NOT_UNIQUE(
                name=column.name, count=len(matching), arguments=arguments
            )
        return float(intervals.values(self, column, slice(matching[0], matching[0] + 1))[0])

    def table(self, *keys: str) -> Answer:
        """Return one table of several groupings, an answer by itself: `answer.table("city")`, or
        `answer.table()` for the total.
        """
        for table in self.tables or (self,):
            if set(table.keys) == set(keys):
                return table
        groupings = [", ".join(map(repr, table.keys)) for table in self.tables or (self,)]
        raise refusals.UNKNOWN_TABLE(
            keys=", ".join(keys) or "nothing",
            groupings="; ".join(f"({names})" for names in groupings),
            example=f"table({groupings[0]})",
        )

    def __float__(self) -> float:
        return self.value()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each group as a dictionary of keys and values."""
        columns = {name: self[name].tolist() for name in self.names}
        for i, row in enumerate(self.rows):
            yield {
                **dict(zip(self.keys, row, strict=True)),
                **{name: values[i] for name, values in columns.items()},
            }

    def clipped(self, confidence: Number = 0.95) -> dict[str, tuple[Share, Share]]:
        """Estimate, for every clipped column, the shares of rows below and above its bounds."""
        from .proportions import clipped_shares

        return clipped_shares(self, confidence)

    def withheld(self, confidence: Number = 0.95) -> Share | None:
        """Estimate the share of counted rows in groups that are not shown; None if every group is
        shown.
        """
        from .proportions import withheld_share

        return withheld_share(self, confidence)

    def non_negative(self) -> Answer:
        """Replace negative counts, and negative sums of non-negative values, by 0."""
        from .processing import non_negative

        return non_negative(self)

    def consistent(self) -> Answer:
        """Replace the counts of several groupings by whole numbers from 0 on that add up from table
        to table. Small counts are then too large on average; `self` has the unbiased ones.
        """
        from .stack_tables import consistent

        return consistent(self)

    def rounded(self) -> Answer:
        """Round counts to whole numbers."""
        from .processing import rounded

        return rounded(self)

    def rising(self) -> Answer:
        """Replace cumulative counts by the nearest ones that never fall."""
        from .processing import rising

        return rising(self)

    def top(self, count: int, name: str | None = None, /) -> Answer:
        """Keep the groups with the largest values of a column, the largest first; `top(1)` of
        counts by key is the mode.
        """
        from .top_groups import top

        return top(self, count, name)

    def agreeing(
        self, *, total: Answer | Number | Sequence[Answer | Number], name: str | None = None
    ) -> Answer:
        """Reconcile counts or sums of groups with one or several totals, each public or released
        separately, by least squares. A reconciled total is the sum of its groups; a public one
        holds exactly. Counts become whole numbers.
        """
        from .processing import agreeing

        totals = [total] if isinstance(total, Answer) or not isinstance(total, Sequence) else total
        return agreeing(self, [total] if isinstance(total, str) else totals, name)

    def to_arrow(self, *, intervals: bool = False) -> pyarrow.Table:
        """Return keys and values as an Arrow table; with `intervals`, also name_low and name_high
        at 95 %.
        """
        from .render.export_frames import to_arrow

        return to_arrow(self, intervals=intervals)

    def to_pandas(self, *, intervals: bool = False) -> pandas.DataFrame:
        """Return keys and values as a pandas frame; `intervals` as in `to_arrow`."""
        from .render.export_frames import to_pandas

        return to_pandas(self, intervals=intervals)

    def to_polars(self, *, intervals: bool = False) -> polars.DataFrame:
        """Return keys and values as a Polars frame; `intervals` as in `to_arrow`."""
        from .render.export_frames import to_polars

        return to_polars(self, intervals=intervals)

    def to_csv(self, path: str | Path | None = None, *, intervals: bool = False) -> str:
        """Return keys and values as CSV, and write it to `path` if there is one. Text that a
        spreadsheet would run as a formula gets an apostrophe in front.
        """
        from .render.export_frames import to_csv

        return to_csv(self, path, intervals=intervals)

    def to_json(self) -> bytes:
        """Return the answer as exact JSON; `Answer.from_json` restores an equal answer."""
        from .stored_answer import dump

        return dump(self)

    @staticmethod
    def from_json(stored: bytes | str) -> Answer:
        """Restore an answer from the bytes of `to_json`."""
        from .stored_answer import load

        return load(stored)

    def card(self, **about: Any) -> Card:
        """Return the release card: what was released, who is protected, how, and at what cost.
        `about` adds what only the publisher knows: see `card.card`.
        """
        from .cards.card import card

        return card(self, **about)

    def plot(
        self,
        name: str | None = None,
        *,
        confidence: Number = 0.95,
        top: int = 20,
        title: str | None = None,
    ) -> Figure:
        """Draw a bar with its interval for each group (the largest `top`), or for each bin."""
        from .render.plot_answer import plot

        return plot(self, name or self.names[0], confidence=confidence, top=top, title=title)

    def text(
        self,
        *,
        confidence: Number = 0.95,
        rows: int = 40,
        width: int | None = None,
        rules_in: str = "answer.explain()",
    ) -> str:
        """Return the printed text, with intervals at this confidence and at most `rows` rows.

        Footnotes wrap to `width` columns: those of the terminal, if none is given. `rules_in` names
        the place that tells all rules.
        """
        from .render.render_text import render

        return render(self, confidence, rows, width=width, hint=rules_in)

    def explain(self, *, confidence: Number = 0.95, width: int | None = None) -> str:
        """Explain the answer line by line: question, cost, unit, every rule of the release, what
        was done afterwards, what the limits left out, and what the intervals cover.
        """
        from ..templates.summary import ShownText
        from .render.explain_answer import explain

        return ShownText(explain(self, confidence, width))

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .render.render_html import render

        return render(self)

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Answer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())
