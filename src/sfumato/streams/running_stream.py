"""A stream over a table: measure the periods that have ended, and read all sums from the noisy
integers that are stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import numpy as np

from ..errors import trim_methods
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..mechanisms.series.running_sums import STRETCH, Numbers
from ..release import StreamCharge, or_failed, release_periods
from ..tables.plan.period_sums import PeriodQuery
from ..tables.plan.query_plan import MOST_CELLS
from ..templates.summary import Summarized, Summary
from . import streams_refusals as refusals
from .period_calendar import PeriodCalendar, moment_of
from .stream_options import Moment, StreamSettings
from .stream_plan import StreamPlan
from .stream_table import MeasuredComponent, Range, StreamTable


@trim_methods
class Stream(Summarized):
    """A stream of published sums. `advance` publishes; everything else is free."""

    def __init__(
        self,
        by_period: PeriodQuery,
        calendar: PeriodCalendar,
        measures: tuple[MeasuredComponent, ...],
        charge: StreamCharge,
        cost: Guarantee,
        identity: str,
        settings: StreamSettings,
    ) -> None:
        self.settings, self.cost = settings, cost
        self._by_period, self._calendar, self._measures = by_period, calendar, measures
        self._charge, self._identity = charge, identity
        groups = tuple(by_period.groups)
        self._groups = groups
        self._measured: list[Numbers] = [np.zeros((0, len(groups)), dtype=object) for _ in measures]
        self._totals: list[Numbers] | None = None
        self._read_stored()

    @property
    def ledger(self) -> Ledger:
        """The account that pays for the stream."""
        return self._charge.ledger

    @property
    def released(self) -> int:
        """The number of periods that are published."""
        return len(self._measured[0])

    @property
    def protects(self) -> str:
        """What the promise protects, in a sentence."""
        declared, settings = self._by_period.query.rows.declaration, self.settings
        every, unit = settings.every, declared.unit_name
        if not declared.unit:
            return f"protects each row, in every {every}; a row with a new time is a new row"
        rows = self._by_period.bounding.rows
        most = f"at most {rows} row{'s' * (rows > 1)} of a {unit} count in a {every}"
        if settings.any_periods is not None:
            span = (
                f"{settings.any_periods} consecutive {every}s"
                if settings.any_periods > 1
                else (f"single {every}")
            )
            return f"protects what a {unit} does in any {span}; {most}"
        first = settings.first_periods
        when = f"first {first} {every}s" if first != 1 else f"first {every}"
        return (
            f"protects a {unit} for ever, while rows are only added: it counts in its {when}; "
            f"{most}"
        )

    def plan(self) -> StreamPlan:
        """Return cost and errors. Reads no data, costs nothing."""
        return StreamPlan(
            self.cost,
            self.protects,
            self.ledger.dataset,
            self.settings.every,
            self._by_period.columns,
            self._measures,
            self.released,
            self.settings.any_periods,
            self._most_periods(),
        )

    def _most_periods(self) -> int | None:
        """Return the number of periods after which one call would sum too many numbers, if there is
        one: every measurement reads its stretch, or its window, from the start.
        """
        most, noise = MOST_CELLS // len(self._groups), self._measures[0].noise
        if noise.window is not None:
            return None if noise.window <= most else 0
        first = noise.stretch(0).last
        assert first is not None
        if first > most:
            return most
        return first + most if noise.length is None and most < STRETCH else None

    def advance(self, until: Moment | None = None) -> StreamTable:
        """Publish all periods that have ended by a moment, now by default, and that are not
        published yet. Returns their totals; of a stream of windows, their last windows.

        The first call charges the stream, for ever. After a crash the next call goes on: what was
        stored is published, and nothing is paid twice.
        """
        moment = (
            datetime.now(UTC).replace(tzinfo=None) if until is None else moment_of(until, "until")
        )
        last = self._calendar.number_at(moment) - 1 - self.settings.wait
        if self.settings.length is not None:
            last = min(last, self.settings.length)
        self._read_stored()
        before = self.released
        while (after := self.released) < last:
            noise = [measure.noise for measure in self._measures]
            begin = noise[0].first_read(after + 1)
            keys = [self._calendar.key(number) for number in range(begin, last + 1)]
            stored = release_periods(
                self._by_period.between(keys, self._calendar.key(1)),
                noise,
                after,
                self._charge,
                self._question(after),
                timeout=self.settings.timeout,
            )
            or_failed(partial(self._append, stored))
        return self._sums(before + 1, self.settings.window)

    def totals(self) -> StreamTable:
        """Return the sums since the beginning, after each published period."""
        self._check_published("totals()")
        if self.settings.window is not None:
            raise refusals.FORGOTTEN(call="totals()", window=self.settings.window)
        return self._sums(1, None)

    def periods(self) -> StreamTable:
        """Return each published period by itself."""
        return self.window(1)

    def window(self, length: int, /) -> StreamTable:
        """Return the sums of the last `length` periods, at each period that has so many."""
        call = f"window({length})"
        self._check_published(call)
        if (
            isinstance(length, bool)
            or not isinstance(length, int)
            or not (1 <= length <= self.released)
        ):
            raise refusals.PERIODS_NOT_RELEASED(call=call, **self._published)
        if self.settings.window is not None and length > self.settings.window:
            raise refusals.FORGOTTEN(call=call, window=self.settings.window)
        return self._sums(length, length)

    def between(self, first: Moment, last: Moment) -> StreamTable:
        """Return the sums from the period that holds `first` to the one that holds `last`."""
        call = f"between({first!r:.40}, {last!r:.40})"
        self._check_published(call)
        pair = (
            self._calendar.number_at(moment_of(first, "first")),
            self._calendar.number_at(moment_of(last, "last")),
        )
        if not 1 <= pair[0] <= pair[1] <= self.released:
            raise refusals.PERIODS_NOT_RELEASED(call=call, **self._published)
        window = self.settings.window
        if window is not None and pair[1] - pair[0] >= window:
            raise refusals.FORGOTTEN(call=call, window=window)
        return self._table([pair], "sums")

    def _sums(self, first: int, length: int | None) -> StreamTable:
        """Sum the last `length` periods, or all so far, at each period from `first` on."""
        every = self.settings.every
        what = (
            "totals"
            if length is None
            else f"each {every}"
            if length == 1
            else f"sums of {length} {every}s"
        )
        ends = range(first, self.released + 1)
        return self._table(
            [(1 if length is None else max(1, end - length + 1), end) for end in ends], what
        )

    def _table(self, ranges: Sequence[Range], what: str) -> StreamTable:
        totals = self._read_totals()
        first = np.array([pair[0] for pair in ranges], dtype=np.int64)
        last = np.array([pair[1] for pair in ranges], dtype=np.int64)
        padded = [
            np.concatenate([np.zeros((1, total.shape[1]), dtype=object), total]) for total in totals
        ]
        query, calendar = self._by_period.query, self._calendar
        return StreamTable(
            f"{what} of {query.rows.declaration.name} · {self.cost.numbers_text} for the stream",
            (self.settings.every, *query.keys),
            tuple(calendar.key(pair[1]) for pair in ranges),
            tuple(ranges),
            self._groups,
            self._by_period.columns,
            self._measures,
            tuple(total[last] - total[first - 1] for total in padded),
        )

    def _read_totals(self) -> list[Numbers]:
        if self._totals is None:
            self._totals = [
                measure.noise.totals(measured)
                for measure, measured in zip(self._measures, self._measured, strict=True)
            ]
        return self._totals

    def _read_stored(self) -> None:
        """Read the measurements that the ledger holds, those of other processes, too."""
        while (stored := self.ledger.recall(self._question(self.released))) is not None:
            self._append(stored.answer)

    def _append(self, stored: bytes) -> None:
        try:
            record = json.loads(stored)
            new = [
                np.array(column, dtype=object).reshape(-1, len(self._groups))
                for column in record["columns"]
            ]
            periods = {len(column) for column in new}
            if (
                (record["measurements"], record["first"]) != (1, self.released + 1)
                or periods != {record["last"] - self.released}
                or len(new) != len(self._measures)
                or not all(type(entry) is int for column in new for entry in column.flat)
            ):
                raise ValueError(record)
        except (LookupError, TypeError, ValueError):
            raise refusals.DAMAGED_MEASUREMENTS() from None
        self._measured = [
            np.concatenate([before, after])
            for before, after in zip(self._measured, new, strict=True)
        ]
        self._totals = None

    def _question(self, after: int) -> str:
        """Return the question whose stored answer begins after so many periods."""
        return json.dumps({"stream": self._identity, "after": after}, ensure_ascii=False)

    def _check_published(self, call: str) -> None:
        if not self.released:
            raise refusals.NOTHING_RELEASED(call=call)

    @property
    def _published(self) -> dict[str, object]:
        return {"released": self.released, "last": self._calendar.key(self.released)}

    def _summary(self) -> Summary:
        calendar, every = self._calendar, self.settings.every
        columns = [*self._by_period.query.keys, *(c.name for c in self._by_period.columns)]
        return Summary(
            title=f"stream of {self._by_period.query.rows.declaration.name} by {every} · "
            f"{self.cost.numbers_text} for ever",
            notes=[
                self.protects,
                f"columns: {', '.join(columns)}",
                f"{self.released} {every}s are published, up to {calendar.key(self.released)}"
                if self.released
                else f"nothing is published; the first {every} is {calendar.key(1)}",
                "plan() shows errors, advance() publishes, totals() and periods() show",
            ],
        )
