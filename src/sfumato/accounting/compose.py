"""`sf.compose`: the tight, certified total of releases that are fixed beforehand.

*Takes*     Mechanisms and guarantees, each alone or with the number of its uses.
*Gives*     A `Loss`, whose curve is bounded from above and from below.
*Beside*    Adding guarantees (`+`) is right for costs chosen along the way, and much larger; KOV
            (`accounting.optimal`) is tight where only ε and δ are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ..guarantees import Guarantee, Pure
from ..guarantees.finite.finite_laws import Law
from ..guarantees.finite.finite_laws import pair as laws
from ..guarantees.guarantee import common_relation_and_unit
from ..mechanisms.shared.mechanism import Mechanism
from . import accounting_refusals as refusals
from .composition import count_of
from .loss.pair_of_mechanism import Parts, pairs_of, parts_of
from .loss.pairs_finite import FinitePair
from .loss.privacy_loss import Loss

Release = Mechanism | Guarantee
ScheduleStep = Release | tuple[Release, int]


def compose(schedule: Iterable[ScheduleStep]) -> Loss:
    """Return the total of a schedule of mechanisms and guarantees, or pairs (release, count).

    schedule      the releases, in any order; they must be fixed before the first answer

    >>> total = sf.compose([(mech.Gaussian(sensitivity=1, sigma=10), 100)])
    >>> round(total.epsilon(1e-6), 2)
    4.89
    """
    parts: list[tuple[Parts, int]] = []
    about: list[Guarantee] = []
    for step in _steps(schedule):
        release, count = step if isinstance(step, tuple) else (step, 1)
        parts.append((_parts(release), count_of(count, "count")))
        about.append(Guarantee._bind(Pure(0), release.relation, release.unit))
    if not parts:
        raise refusals.NOTHING_RELEASED(function="compose")
    combined = reduce(lambda a, b: Guarantee._bind(Pure(0), *common_relation_and_unit(a, b)), about)
    return Loss(
        tuple((pair, n * count) for some, count in parts for pair, n in some),
        relation=combined.relation,
        unit=combined.unit,
    )


def loss_between(P: Law, Q: Law, *, relation: str | None = None, unit: str | None = None) -> Loss:
    """Return the Loss of a release with finitely many answers, which follow P with the unit and Q
    without. Laws that are not mirror images of each other need add-remove.
    """
    p, q = laws(P, Q)
    pair = FinitePair(p, q)
    if not pair.symmetric and relation != "add-remove":
        raise refusals.LAWS_NOT_MIRRORED(relation=relation)
    return Loss(((pair, 1),), relation=relation, unit=unit)


def _steps(schedule: Iterable[ScheduleStep]) -> list[ScheduleStep]:
    if isinstance(schedule, Mechanism | Guarantee) or not isinstance(schedule, Iterable):
        raise refusals.SCHEDULE_IS_NO_LIST(schedule=schedule)
    steps = list(schedule)
    for step in steps:
        release = step[0] if isinstance(step, tuple) and len(step) == 2 else step
        if not isinstance(release, Mechanism | Guarantee):
            raise refusals.STEP_IS_NO_RELEASE(step=step)
    return steps


def _parts(release: Release) -> Parts:
    if isinstance(release, Mechanism):
        return pairs_of(release)
    parts = parts_of(release)
    if parts is None:
        raise refusals.NOTION_WITHOUT_PAIR(guarantee=release, notion=type(release).__name__)
    return parts
