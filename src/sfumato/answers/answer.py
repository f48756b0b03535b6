"""The answer: what may be published. Values, intervals, cost, and everything that can be done with
them without looking at data again.

*Frozen*    An answer is a record of noisy integers and public things. Whatever is computed from it
            is post-processing, and free.
*Interval*  for the bounded query: values clipped, units bounded as the rules say. What clipping
            removed is estimated apart (`clipped`), where it was paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Guarantee
from . import intervals
from .answer_records import Column, Key, Noisy, Paid, Weighing
from .plain_json import plainly
from .validate_answer import check

if TYPE_CHECKING:
    from pathlib import Path

    import polars
    from matplotlib.figure import Figure

    from .cards.card import Card
    from .proportions import Share


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Answer:
    """Groups in the order of their keys (one group without a key, where nothing was grouped), and
    what was asked about each.
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
    budget: Guarantee | None = None  # of the dataset, when this was released
    left: Guarantee | None = None  # of the budget, when this was released
    recalled: str = ""  # when it was first given, if it is given again
    weighing: Weighing | None = None  # how units were bounded; None where that is not known
    complete: bool = (
        True  # whether every group of the question is here: none was withheld or left out
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", plainly(self.facts))
        object.__setattr__(self, "columns", tuple(self.columns))
        check(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that were asked for."""
        return tuple(column.name for column in self.columns)

    @property
    def receipt(self) -> Paid | None:
        """The one entry of the ledger that paid for this; several paid for a merged answer."""
        return self.receipts[0] if len(self.receipts) == 1 else None

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column: a number for each group, a row of bins for each group of a histogram, or the
        keys.
        """
        if name in self.keys:
            found = np.empty(len(self.rows), dtype=object)
            found[:] = [row[self.keys.index(name)] for row in self.rows]
            return found
        column = self.column(name)
        values = intervals.values(self, column)
        return (
            values.astype(np.int64)
            if column.processed is not None
            and column.processed.whole
            and np.abs(values).max(initial=0.0) < 2.0**53
            else values
        )

    def interval(
        self, name: str, confidence: Number = 0.95, *, simultaneous: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends. Each cell's interval holds with this probability; with
        `simultaneous`, all cells of the column hold together.

        Where the column's own noisy values chose the groups that are shown (HAVING, ORDER BY …
        LIMIT, `top`), all shown cells hold together in any case.
        """
        return intervals.interval(self, self.column(name), confidence, simultaneous=simultaneous)

    def column(self, name: str) -> Column:
        """The record of a column, by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        near = get_close_matches(str(name), [*self.names, *self.keys], 1, 0.4) or [self.names[0]]
        raise Refused(
            "answer.column",
            f"{name!r:.60}",
            f"the answer has {', '.join((*self.keys, *self.names))}",
            f"answer[{near[0]!r}]",
        )

    def bins(self, name: str) -> NDArray[np.float64]:
        """The edges of a histogram: one more than there are bins."""
        column = self.column(name)
        if column.kind != "histogram":
            raise Refused(
                "answer.column",
                f"bins({name!r})",
                f"{name} is a {column.kind}, which has no bins",
                "sf.histogram(…, edges=…)",
            )
        return np.array([float(edge) for edge in column.edges])

    def value(self, name: str | None = None, /, **keys: Key) -> float:
        """The number in one cell: `answer.value()` where there is one only, `answer.value("n",
        city="Roma")` elsewhere.
        """
        found = [
            i
            for i, row in enumerate(self.rows)
            if all(k in self.keys and row[self.keys.index(k)] == v for k, v in keys.items())
        ]
        if name is None and len(self.columns) != 1:
            raise Refused(
                "answer.cell",
                "value()",
                f"there are {len(self.columns)} columns",
                f"value({self.names[0]!r})",
            )
        column = self.column(name if name is not None else self.names[0])
        if len(found) != 1 or column.kind == "histogram":
            said = ", ".join([repr(column.name), *(f"{k}=…" for k in self.keys)])
            raise Refused(
                "answer.cell",
                f"value({column.name!r})",
                f"that is not one cell: {len(found)} groups, a {column.kind}",
                f"value({said})",
            )
        return float(intervals.values(self, column, slice(found[0], found[0] + 1))[0])

    def __float__(self) -> float:
        return self.value()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The groups, each as a dictionary of keys and values."""
        columns = {name: self[name].tolist() for name in self.names}
        for i, row in enumerate(self.rows):
            yield {
                **dict(zip(self.keys, row, strict=True)),
                **{name: values[i] for name, values in columns.items()},
            }

    def clipped(self, confidence: Number = 0.95) -> dict[str, tuple[Share, Share]]:
        """For every clipped column, about which share of rows lay below and above its bounds."""
        from .proportions import clipped

        return clipped(self, confidence)

    def withheld(self, confidence: Number = 0.95) -> Share | None:
        """About which share of the counted rows is in groups that are not shown; None where every
        group is.
        """
        from .proportions import withheld

        return withheld(self, confidence)

    def non_negative(self) -> Answer:
        """Counts, and sums of what is never negative, not below zero."""
        from .processing import non_negative

        return non_negative(self)

    def rounded(self) -> Answer:
        """Counts as whole numbers."""
        from .processing import rounded

        return rounded(self)

    def top(self, count: int, name: str | None = None, /) -> Answer:
        """The groups with the largest values of a column, the largest first; `top(1)` of counts by
        key is the mode.
        """
        from .top_groups import top

        return top(self, count, name)

    def agreeing(self, *, total: Answer | Number, name: str | None = None) -> Answer:
        """Counts or sums moved so that the groups add up to a total that was released apart, or is
        public.
        """
        from .processing import agreeing

        return agreeing(self, total, name)

    def to_arrow(self, *, intervals: bool = False) -> Any:
        """Keys and values as an Arrow table; with `intervals`, also name_low and name_high at 95 %.
        So for the others.
        """
        from .render.export_frames import to_arrow

        return to_arrow(self, intervals=intervals)

    def to_pandas(self, *, intervals: bool = False) -> Any:
        """Keys and values as a pandas frame."""
        from .render.export_frames import to_pandas

        return to_pandas(self, intervals=intervals)

    def to_polars(self, *, intervals: bool = False) -> polars.DataFrame:
        """Keys and values as a Polars frame."""
        from .render.export_frames import to_polars

        return to_polars(self, intervals=intervals)

    def to_csv(self, path: str | Path | None = None, *, intervals: bool = False) -> str:
        """Keys and values as text, which is also written to a path if there is one. Text that a
        spreadsheet would run gets an apostrophe in front.
        """
        from .render.export_frames import to_csv

        return to_csv(self, path, intervals=intervals)

    def to_json(self) -> bytes:
        """Everything, exact: `Answer.from_json` reads it back as an equal answer."""
        from .stored_answer import dump

        return dump(self)

    @staticmethod
    def from_json(stored: bytes | str) -> Answer:
        """The answer that bytes of `to_json` hold."""
        from .stored_answer import load

        return load(stored)

    def card(self, **about: Any) -> Card:
        """The release card: what was released, who is protected, how, and at what cost. What only
        the publisher knows may be given: see `card.card`.
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
        """A bar for each group, the largest `top` if there are more, or for each bin, with the
        intervals.
        """
        from .render.plot_answer import plot

        return plot(self, name or self.names[0], confidence=confidence, top=top, title=title)

    def text(self, *, confidence: Number = 0.95, rows: int = 40) -> str:
        """What is printed, with intervals at another level or more rows."""
        from .render.render_text import render

        return render(self, confidence, rows)

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
