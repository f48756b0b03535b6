"""Run a plan without noise, and record what each mechanism receives: for tests only. No product
code can import this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .. import release as door
from ..answers.answer import Answer
from ..answers.answer_records import Noisy, law_of
from ..ledger.receipts import Receipt
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.weighted_quantile import WeightedQuantile
from ..noise.bits import SYSTEM, Bits
from ..noise.weighted_sums import Spread
from ..tables.aggregates.count_tree import Integers
from ..tables.marginals.parts import Keys
from ..tables.plan.choose_noise import Adds, Calibration
from ..tables.plan.query_plan import Plan
from ..tables.plan.read_results import ResultGroups

if TYPE_CHECKING:
    from ..session.protected_table import Table


Values = TypeVar("Values", bound=NDArray[np.generic])


@dataclass(frozen=True, slots=True)
class MechanismCall:
    """One call of a mechanism: the mechanism, and the exact integers that it received."""

    mechanism: Mechanism
    integers: tuple[NDArray[np.generic], ...]


@dataclass(slots=True)
class SilentMechanism:
    """A stand-in for a mechanism: it adds no noise, names every group, returns the exact lower
    quantile, and records what it received. With `fixed_knots` it returns an end of the range for a
    point beside a quantile, so that the place of knots is no matter of data.
    """

    mechanism: Mechanism
    calls: list[MechanismCall] = field(default_factory=list)
    fixed_knots: bool = False

    @property
    def law(self) -> Spread:
        law = law_of(self.mechanism)
        assert law is not None
        return law

    def perturb(self, value: Values, *, bits: Bits = SYSTEM) -> Values:
        self.calls.append(MechanismCall(self.mechanism, (value.copy(),)))
        return value

    def perturb_all(
        self, counts: Values, *, bits: Bits = SYSTEM
    ) -> tuple[Values, NDArray[np.bool_]]:
        return self.perturb(counts), np.ones(len(counts), dtype=np.bool_)

    def keep(self, votes: NDArray[np.generic], *, bits: Bits = SYSTEM) -> NDArray[np.bool_]:
        self.calls.append(MechanismCall(self.mechanism, (votes.copy(),)))
        return np.ones(len(votes), dtype=np.bool_)

    def perturb_each(
        self,
        groups: NDArray[np.int64],
        points: NDArray[np.int64],
        weights: NDArray[np.generic],
        count: int,
        *,
        bits: Bits = SYSTEM,
    ) -> NDArray[np.int64]:
        self.calls.append(
            MechanismCall(self.mechanism, (groups.copy(), points.copy(), weights.copy()))
        )
        assert isinstance(self.mechanism, WeightedQuantile)
        shift = self.mechanism.shift
        if self.fixed_knots and shift:
            end = self.mechanism.low if shift > 0 else self.mechanism.high
            return np.full(count, int(end))
        return np.array(
            [
                _quantile(points[groups == g], weights[groups == g], self.mechanism)
                for g in range(count)
            ],
            dtype=np.int64,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SilentCalibration(Calibration):
    """A calibration with stand-ins for its mechanisms. The draws in a component's noise are those
    of the mechanisms.
    """

    original: Calibration

    def draws_of(self, place: int) -> list[tuple[Adds, int, str]]:
        return self.original.draws_of(place)


@dataclass(frozen=True, slots=True)
class Through:
    """What passed through the release function: every call in order, the groups, the pieces without
    noise, the engine's table for each statement, and the step of each component by its name.
    """

    calls: tuple[MechanismCall, ...]
    groups: ResultGroups
    pieces: tuple[Noisy, ...]
    tally: door.Tables
    steps: Mapping[str, Fraction]

    def integers(self, name: str) -> NDArray[np.generic]:
        """Return the exact sums of a component of counts or values, in its own steps, as they
        follow from the cells that the mechanisms received.
        """
        piece = next(piece for piece in self.pieces if piece.name == name)
        ratio = piece.step / self.steps[name]
        values = piece.values * ratio.numerator if ratio != 1 else piece.values
        assert not (values % ratio.denominator).any()
        return values // ratio.denominator


class Rehearsal:
    """A plan whose mechanisms are silent, with the same statements every time: two runs differ in
    the data alone. The bins of quantiles stay where they are, unless `fixed_knots` is False: then
    they lie around the exact quantile.
    """

    def __init__(self, plan: Plan, *, fixed_knots: bool = True) -> None:
        self._calls: list[MechanismCall] = []
        calibration = plan.calibration
        noise: Any = tuple(  # in place of mechanisms, which have another type
            tuple(
                SilentMechanism(mechanism, self._calls, fixed_knots and len(mechanisms) > 1)
                for mechanism in mechanisms
            )
            for mechanisms in calibration.noise
        )
        selection = calibration.selection
        if selection is not None:
            silent: Any = SilentMechanism(selection.mechanism, self._calls)
            selection = replace(selection, mechanism=silent)
        parts: dict[str, Any] = {
            part.name: getattr(calibration, part.name) for part in fields(calibration)
        }
        parts |= {"noise": noise, "selection": selection, "original": calibration}
        workload = plan.workload
        if workload is not None:

            def silence(several: Sequence[Additive | None]) -> tuple[Additive | None, ...]:
                """Put stand-ins in place of mechanisms."""
                return tuple(
                    cast("Additive", SilentMechanism(each, self._calls)) if each else None
                    for each in several
                )

            silenced = {keys: silence(blocks) for keys, blocks in workload.noise.items()}
            pooled = silence(workload.pooled)
            workload = replace(workload, noise=silenced, pooled=pooled)
        self.plan = replace(plan, calibration=SilentCalibration(**parts), workload=workload)

    def measure(self) -> tuple[tuple[MechanismCall, ...], tuple[dict[Keys, Integers], ...]]:
        """Tally and perturb several groupings: the calls, and the tables that are measured."""
        self._calls.clear()
        tally = door._tally(self.plan, self.plan.statements, None)
        assert self.plan.groups is not None
        noisy = door._perturb_groupings(self.plan, self.plan.groups, tally, SYSTEM)
        return tuple(self._calls), noisy

    def run(self) -> Through:
        """Tally and perturb as `release` does, without charging."""
        self._calls.clear()
        tally = door._tally(self.plan, self.plan.statements, None)
        groups, noisy = door._perturb(self.plan, self.plan.groups, tally, SYSTEM)
        pieces = []
        for piece in noisy:
            silent: object = piece.mechanism
            mechanism = silent.mechanism if isinstance(silent, SilentMechanism) else piece.mechanism
            pieces.append(Noisy(piece.name, piece.values, piece.step, mechanism))
        bounding = self.plan.calibration.bounding
        steps = {
            component.name: component.step
            if component.form == "point"
            else bounding.step(component)
            for component in self.plan.components
        }
        return Through(tuple(self._calls), groups, tuple(pieces), tally, steps)


def through_the_door(plan: Plan) -> Through:
    """Run the plan once with silent mechanisms."""
    return Rehearsal(plan, fixed_knots=False).run()


def exact_answer(plan: Plan, table: Table) -> Answer:
    """Return the answer without noise."""
    receipt = Receipt(
        table.name,
        0,
        "0" * 64,
        plan.cost,
        "1970-01-01T00:00:00.000+00:00",
        "",
        None,
        reserved=False,
    )
    if plan.workload is not None:
        silent = Rehearsal(plan)
        noisy = silent.measure()[1]
        return door.finish_groupings(silent.plan, noisy, ledger=table.ledger, receipt=receipt)
    through = through_the_door(plan)
    rows = through.groups.rows
    return door.finish(plan, rows, through.pieces, ledger=table.ledger, receipt=receipt)


def _quantile(points: NDArray[np.int64], weights: NDArray[np.generic], mechanism: Mechanism) -> int:
    """Return the least point at or below which a part q of the weight lies; the lower end of the
    range if there is no weight.
    """
    assert isinstance(mechanism, WeightedQuantile)
    order = np.argsort(points, kind="stable")
    low, high = int(mechanism.low), int(mechanism.high)
    total = int(sum(int(w) for w in weights))
    if total == 0:
        return low
    reached = 0
    for place in order:
        reached += int(weights[place])
        if reached >= mechanism.q * total:
            return max(low, min(high, int(points[place])))
    return high
