"""`sf.privatize`: any function of any data, with noise scaled to a stated sensitivity.

*Steps*      Public facts first: promise, sensitivity, shape and grid make a mechanism, or a
             refusal. Then the charge, if there is a ledger. Then the function is called once, and
             its values get exact noise. From the call on, nothing raised, printed or returned
             depends on the data, except the noisy values.
*Completed*  The sensitivity must be that of the function as completed here. Values are clipped to
             `bounds`, if given. A result that is no number, has the wrong shape or raises becomes
             `default`: the middle of the bounds, or 0. A function that can fail must move to and
             from that default by no more than its sensitivity.
*Not hidden* how long the function takes, and what it prints or stores itself.
*Proof*      docs/guides/functions/any-function.md; the laws in docs/proofs/laplace.md and
             docs/proofs/gaussian.md, the grid in docs/proofs/grid.md
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..exact.numbers import Number
from ..guarantees import Approx, Guarantee, Pure
from ..mechanisms.inverse_sensitivity import InverseSensitivity
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.smooth import SmoothLaplace
from ..noise.bits import SYSTEM, Bits
from ..records import is_frozen_record
from ..sensitivity.kinds import Inverse, Sensitivity, Smooth
from ..sensitivity.sampled import Sampled
from . import function_refusals as refusals
from .calibration import Stated, noise_for, promise_from
from .guarded_call import ValueForm, by_label, call_guarded, check_labels, form_of
from .record_loop import check_one_column, perturb_guarded
from .released_value import Released
from .sampled_noise import SampledNoise, base_of, check_records

if TYPE_CHECKING:
    from ..ledger import Ledger, Receipt

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class OwnMechanism:
    """The mechanism of a sensitivity that has its own: its class, the notion that it promises, and
    a promise of that notion, as code.
    """

    kind: Callable[..., SmoothLaplace | InverseSensitivity]
    notion: type[Guarantee]
    example: str


OWN_MECHANISMS: dict[type[Sensitivity], OwnMechanism] = {
    Smooth: OwnMechanism(SmoothLaplace, Approx, "sf.Approx(1, 1e-6)"),
    Inverse: OwnMechanism(InverseSensitivity, Pure, "sf.Pure(1)"),
}
"""Sensitivities with their own mechanism."""


class NoiseRequest(NamedTuple):
    """The public facts from which noise is calibrated, as a caller of `privatize` states them."""

    sensitivity: Stated
    epsilon: Number | None = None
    delta: Number | None = None
    promise: Guarantee | None = None
    relation: str | None = None
    unit: str | None = None
    size: int | None = None
    shape: tuple[int, ...] | None = None
    bounds: tuple[Number, Number] | None = None
    default: Number | None = None
    grid: Number | None = None
    slack: Number | None = None

    def target(self) -> Guarantee:
        """Return the promise that the caller asks for."""
        return promise_from(self.epsilon, self.delta, self.promise, "privatize(…)")


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Where a release is charged: the ledger, the memo of the entry, and the share that pays."""

    ledger: Ledger
    memo: str
    share: str | None

    def charge(self, mechanism: Mechanism) -> Receipt:
        """Charge a release; refuse one whose sensitivity was sampled."""
        if isinstance(mechanism, SampledNoise):
            raise refusals.SAMPLED_SENSITIVITY_CHARGED(call="privatize(…, ledger=…)")
        return self.ledger.charge(mechanism, memo=self.memo, share=self.share)


@dataclass(frozen=True, slots=True)
class NoiseSetup:
    """The setup before the data are read: the mechanism, and the form of the values that get its
    noise.
    """

    mechanism: Additive | SampledNoise
    noise: Additive
    form: ValueForm


def privatize(
    f: Callable[[D], object] | str,
    data: D,
    *,
    sensitivity: Stated,
    epsilon: Number | None = None,
    delta: Number | None = None,
    promise: Guarantee | None = None,
    relation: str | None = None,
    unit: str | None = None,
    size: int | None = None,
    shape: tuple[int, ...] | None = None,
    labels: Iterable[Hashable] | None = None,
    bounds: tuple[Number, Number] | None = None,
    default: Number | None = None,
    grid: Number | None = None,
    slack: Number | None = None,
    ledger: Ledger | None = None,
    memo: str | None = None,
    share: str | None = None,
    bits: Bits = SYSTEM,
) -> Released:
    """Release f(data) with noise: a number, with `size` or `shape` an array, with `labels` a
    dictionary. The promise is `epsilon` (and `delta`), or any of Pure, Approx, ZCDP, GDP, Renyi.

    `sensitivity` is how far f moves between neighbours: a number (L1 for Laplace, L2 for Gaussian
    noise) or a value of `sf.sensitivity`. `slack` bounds the rounding error of f as computed.
    `labels` are public names, by which a dictionary or a Series is read.

    >>> released = sf.privatize(
    ...     len, ["a", "b", "c"], sensitivity=1, epsilon=1, relation="add-remove"
    ... )
    >>> released.promise
    Pure(1, relation='add-remove')
    """
    entry = None if ledger is None else LedgerEntry(ledger, _memo(f, memo), share)
    if type(sensitivity) in OWN_MECHANISMS and isinstance(sensitivity, Smooth | Inverse):
        request = NoiseRequest(sensitivity, epsilon, delta, promise, relation, unit, grid=grid)
        return _release_by_own_mechanism(f, data, sensitivity, request, entry, bits)
    if not callable(f):
        raise refusals.NOT_A_FUNCTION(f=f)
    names = None if labels is None else check_labels(labels, size, shape)
    setup = _prepare_once(
        NoiseRequest(
            sensitivity,
            epsilon,
            delta,
            promise,
            relation,
            unit,
            size if names is None else len(names),
            shape,
            bounds,
            default,
            grid,
            slack,
        )
    )
    receipt = None if entry is None else entry.charge(setup.mechanism)
    # nothing is charged by now: with a ledger `charge` has refused a sampled sensitivity
    if isinstance(sensitivity, Sampled):
        check_records(sensitivity, data)
    if names is None:
        return Released(
            setup.noise.perturb(call_guarded(f, data, setup.form), bits=bits),
            setup.mechanism,
            receipt,
        )
    values = setup.noise.perturb(
        call_guarded(lambda records: by_label(f(records), names), data, setup.form), bits=bits
    )
    return Released(dict(zip(names, values.tolist(), strict=True)), setup.mechanism, receipt)


def prepare(request: NoiseRequest) -> NoiseSetup:
    """Build the setup from public facts, before the data are read."""
    form = form_of(
        size=request.size, shape=request.shape, bounds=request.bounds, default=request.default
    )
    mechanism = noise_for(
        request.sensitivity,
        request.target(),
        size=form.size,
        grid=request.grid,
        slack=request.slack,
        relation=request.relation,
        unit=request.unit,
    )
    noise = base_of(mechanism)
    return NoiseSetup(mechanism, noise, replace(form, integer_valued=noise.grid is None))


@lru_cache(maxsize=256, typed=True)
def _cached_prepare(*facts: Hashable) -> NoiseSetup:
    """Prepare from the fields of a request: one by one, so that the cache tells 1 from True."""
    return prepare(NoiseRequest._make(facts))


_last: tuple[NoiseRequest, NoiseSetup] | None = None


def _prepare_once(request: NoiseRequest) -> NoiseSetup:
    """Return a cached setup: for the same objects as in the last call, or for equal immutable ones.
    A sensitivity of the caller's own class may change, so it is never cached.
    """
    global _last
    last = _last
    if last is not None and all(map(is_, last[0], request)):
        return last[1]
    if not all(map(_is_immutable, request)):
        return prepare(request)
    try:
        setup = _cached_prepare(*request)  # type: ignore[arg-type]  # caught if not hashable
    except TypeError:
        return prepare(request)
    _last = (request, setup)
    return setup


def _is_immutable(value: object) -> bool:
    """Whether this is a number, a name, a tuple of these, or a frozen record of this library."""
    kind = type(value)
    if kind in PLAIN:
        return True
    if kind is tuple and isinstance(value, tuple):
        return all(map(_is_immutable, value))
    return kind.__module__.startswith("sfumato.") and is_frozen_record(kind)


PLAIN = frozenset({type(None), bool, int, float, str, Fraction, Decimal})
"""Immutable types whose equal values are interchangeable."""


def _memo(f: object, memo: str | None) -> str:
    if isinstance(f, str):
        return memo or f"privatize {f}"
    return memo if memo is not None else f"privatize {getattr(f, '__name__', type(f).__name__)}"


def _release_by_own_mechanism(
    f: object,
    data: object,
    sensitivity: Smooth | Inverse,
    request: NoiseRequest,
    entry: LedgerEntry | None,
    bits: Bits,
) -> Released:
    """Release the statistic that a smooth or inverse sensitivity names, by its own mechanism."""
    name = type(sensitivity).__name__
    matching = OWN_MECHANISMS[type(sensitivity)]
    if f != sensitivity.statistic:
        raise refusals.NOT_THE_STATISTIC(
            f=f, sensitivity=name, statistic=sensitivity.statistic, example=matching.example
        )
    target = request.target()
    if request.relation not in (None, "replace") or target.relation not in (None, "replace"):
        raise refusals.MECHANISM_NEEDS_REPLACE(relation=request.relation, sensitivity=name)
    if not isinstance(target, matching.notion):
        raise refusals.NOT_THE_NOTION_OF_MECHANISM(
            promise=target,
            sensitivity=name,
            notion=matching.notion.__name__,
            example=matching.example,
        )
    mechanism = matching.kind(
        sensitivity.statistic,
        **target.parameters,
        **sensitivity.public(),
        grid=request.grid,
        unit=request.unit or target.unit,
    )
    check_one_column(data)
    receipt = None if entry is None else entry.charge(mechanism)
    return Released(perturb_guarded(mechanism, data, bits, mechanism.low), mechanism, receipt)
