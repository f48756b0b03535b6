"""Import of dp-accounting's DpEvent trees as a `Loss`.

*Read*      By the names of the classes and of their fields. dp-accounting need not be installed,
            and sfumato never imports it.
*Means*     Gaussian(noise_multiplier), Laplace(noise_multiplier) with sensitivity 1, continuous as
            there; k-ary randomized response with `noise_parameter` the chance of a uniform report;
            Poisson sampling under add-remove; fixed-size sampling without replacement under
            replace; composition, self-composition.
*Refused*   What has no dominating pair here, rather than a bound that would not be one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..exact.numbers import exact, positive, probability
from ..guarantees import Relation
from . import accounting_refusals as refusals
from .loss.loss_pairs import DominatingPair, GaussianPair, LaplacePair
from .loss.pair_of_mechanism import Parts
from .loss.pairs_finite import FinitePair
from .loss.pairs_sampled import How, sampled
from .loss.privacy_loss import Loss

Event = Any  # an event of dp-accounting, which is not imported: its class and attributes by name


def from_dp_event(event: Event, *, unit: str | None = None) -> Loss:
    """Return the Loss of an event tree."""
    parts, relations = _read(event)
    if len(relations) > 1:
        raise refusals.TWO_KINDS_OF_SAMPLING(event=type(event).__name__)
    return Loss(parts, relation=next(iter(relations), None), unit=unit)


def _read(event: Event) -> tuple[Parts, frozenset[Relation]]:
    name = type(event).__name__
    if (reader := EVENTS.get(name)) is None:
        raise refusals.UNKNOWN_EVENT(event=name, known=", ".join(EVENTS))
    return reader(event)


def _single_pair(pair: DominatingPair) -> tuple[Parts, frozenset[Relation]]:
    return ((pair, 1),), frozenset()


def _response(event: Event) -> tuple[Parts, frozenset[Relation]]:
    uniform = probability(event.noise_parameter, "noise_parameter", zero=False, one=True)
    k = int(event.num_buckets)
    lie = uniform / k
    truth = 1 - uniform + lie
    rest = ((k - 2) * lie,) if k > 2 else ()
    return _single_pair(FinitePair((truth, lie, *rest), (lie, truth, *rest)))


def _composed(event: Event) -> tuple[Parts, frozenset[Relation]]:
    read = [_read(child) for child in event.events]
    return tuple(part for parts, _ in read for part in parts), frozenset().union(
        *(relations for _, relations in read)
    )


def _self_composed(event: Event) -> tuple[Parts, frozenset[Relation]]:
    parts, relations = _read(event.event)
    return tuple((pair, count * int(event.count)) for pair, count in parts), relations


def _poisson(event: Event) -> tuple[Parts, frozenset[Relation]]:
    return _sampled(
        event, exact(event.sampling_probability, "sampling_probability"), "poisson", "add-remove"
    )


def _fixed(event: Event) -> tuple[Parts, frozenset[Relation]]:
    return _sampled(
        event, Fraction(int(event.sample_size), int(event.source_dataset_size)), "fixed", "replace"
    )


def _sampled(
    event: Event, rate: Fraction, how: How, relation: Relation
) -> tuple[Parts, frozenset[Relation]]:
    parts, relations = _read(event.event)
    if len(parts) != 1 or parts[0][1] != 1:
        raise refusals.SEVERAL_EVENTS_SAMPLED(event=type(event).__name__)
    return ((sampled(parts[0][0], rate, how), 1),), relations | {relation}


EVENTS: dict[str, Callable[[Event], tuple[Parts, frozenset[Relation]]]] = {
    "NoOpDpEvent": lambda _: ((), frozenset()),
    "GaussianDpEvent": lambda e: _single_pair(
        GaussianPair(1 / positive(e.noise_multiplier, "noise_multiplier") ** 2)
    ),
    "LaplaceDpEvent": lambda e: _single_pair(
        LaplacePair(1 / positive(e.noise_multiplier, "noise_multiplier"))
    ),
    "RandomizedResponseDpEvent": _response,
    "ComposedDpEvent": _composed,
    "SelfComposedDpEvent": _self_composed,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _fixed,
}
"""The supported events."""
