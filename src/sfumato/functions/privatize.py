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
from typing import TYPE_CHECKING, Any

from ..exact.numbers import Number
from ..guarantees import Approx, Guarantee, Pure
from ..mechanisms.inverse_sensitivity import InverseSensitivity
from ..mechanisms.shared.additive import Additive
from ..mechanisms.smooth import SmoothLaplace
from ..noise.bits import SYSTEM, Bits
from ..sensitivity.kinds import Inverse, Smooth
from ..sensitivity.sampled import Sampled
from . import function_refusals as refusals
from .calibration import Stated, noise_for, promise_from
from .guarded_call import ValueForm, by_label, call_guarded, check_labels, form_of
from .record_loop import check_one_column, perturb_guarded
from .released_value import Released
from .sampled_noise import SampledNoise, base_of, check_records

if TYPE_CHECKING:
    from ..ledger import Ledger, Receipt

OWN_MECHANISMS: dict[type, tuple[Any, type[Guarantee]]] = {
    Smooth: (SmoothLaplace, Approx),
    Inverse: (InverseSensitivity, Pure),
}
"""Sensitivities with their own mechanism, and the notion that it promises."""


@dataclass(frozen=True, slots=True)
class NoiseSetup:
    """The setup before the data are read: the mechanism, and the form of the values that get its
    noise.
    """

    mechanism: Additive | SampledNoise
    noise: Additive
    form: ValueForm


def privatize(
    f: Callable[[Any], Any] | str,
    data: Any,
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
    dictionary. The promise is `epsilon` (and `delta`), or any of Pure, Approx, ZCDP, GDP.

    `sensitivity` is how far f moves between neighbours: a number (L1 for Laplace, L2 for Gaussian
    noise) or a value of `sf.sensitivity`. `slack` bounds the rounding error of f as computed.
    `labels` are public names, by which a dictionary or a Series is read.
    """
    if type(sensitivity) in OWN_MECHANISMS:
        return _by_own_mechanism(
            f,
            data,
            sensitivity,
            epsilon,
            delta,
            promise,
            grid,
            unit,
            relation,
            ledger,
            memo,
            share,
            bits,
        )
    if not callable(f):
        raise refusals.PRIVATIZE_FUNCTION_1(f=f)
    names = None if labels is None else check_labels(labels, size, shape)
    count = size if names is None else len(names)
    setup = _prepare_once(
        sensitivity,
        epsilon,
        delta,
        promise,
        relation,
        unit,
        count,
        shape,
        bounds,
        default,
        grid,
        slack,
    )
    receipt = None if ledger is None else _charge(ledger, setup, _memo(f, memo), share)
    # nothing is charged by now: with a ledger `_charge` has refused a sampled sensitivity
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


def prepare(
    sensitivity: Stated,
    epsilon: Number | None = None,
    delta: Number | None = None,
    promise: Guarantee | None = None,
    relation: str | None = None,
    unit: str | None = None,
    size: int | None = None,
    shape: tuple[int, ...] | None = None,
    bounds: tuple[Number, Number] | None = None,
    default: Number | None = None,
    grid: Number | None = None,
    slack: Number | None = None,
) -> NoiseSetup:
    """Build the setup from public facts, before the data are read."""
    form = form_of(size=size, shape=shape, bounds=bounds, default=default)
    target = promise_from(epsilon, delta, promise, "privatize(…)")
    mechanism = noise_for(
        sensitivity, target, size=form.size, grid=grid, slack=slack, relation=relation, unit=unit
    )
    noise = base_of(mechanism)
    return NoiseSetup(mechanism, noise, replace(form, integer_valued=noise.grid is None))


_cached_prepare: Any = lru_cache(maxsize=256, typed=True)(prepare)
_last: tuple[tuple[Any, ...], NoiseSetup] | None = None


def _prepare_once(*public: Any) -> NoiseSetup:
    """Return a cached setup: for the same objects as in the last call, or for equal immutable ones.
    A sensitivity of the caller's own class may change, so it is never cached.
    """
    global _last
    last = _last
    if last is not None and all(map(is_, last[0], public)):
        return last[1]
    if not all(map(_is_immutable, public)):
        return prepare(*public)
    try:
        setup: NoiseSetup = _cached_prepare(*public)
    except TypeError:
        return prepare(*public)
    _last = (public, setup)
    return setup


def _is_immutable(value: Any) -> bool:
    """Whether this is a number, a name, a tuple of these, or a frozen record of this library."""
    kind = type(value)
    if kind in PLAIN:
        return True
    if kind is tuple:
        return all(map(_is_immutable, value))
    parameters = vars(kind).get("__dataclass_params__")
    return (
        parameters is not None
        and bool(parameters.frozen and parameters.eq)
        and kind.__module__.startswith("sfumato.")
    )


PLAIN = frozenset({type(None), bool, int, float, str, Fraction, Decimal})
"""Immutable types whose equal values are interchangeable."""


def _charge(ledger: Ledger, setup: NoiseSetup, memo: str, share: str | None) -> Receipt:
    if isinstance(setup.mechanism, SampledNoise):
        raise refusals.SENSITIVITY_SAMPLED_2(promise=setup.mechanism.promise)
    return ledger.charge(setup.mechanism, memo=memo, share=share)


def _memo(f: object, memo: str | None) -> str:
    return memo if memo is not None else f"privatize {getattr(f, '__name__', type(f).__name__)}"


def _by_own_mechanism(
    f: Any,
    data: Any,
    sensitivity: Any,
    epsilon: Number | None,
    delta: Number | None,
    promise: Guarantee | None,
    grid: Number | None,
    unit: str | None,
    relation: str | None,
    ledger: Ledger | None,
    memo: str | None,
    share: str | None,
    bits: Bits,
) -> Released:
    """Release the statistic that a smooth or inverse sensitivity names, by its own mechanism."""
    name = type(sensitivity).__name__
    kind, notion = OWN_MECHANISMS[type(sensitivity)]
    if f != sensitivity.statistic:
        raise refusals.PRIVATIZE_FUNCTION_2(
            f=f,
            name=name,
            statistic=sensitivity.statistic,
            promise="epsilon=1" if notion is Pure else "epsilon=1, delta=1e-6",
        )
    target = promise_from(epsilon, delta, promise, "privatize(…)")
    if relation not in (None, "replace") or target.relation not in (None, "replace"):
        raise refusals.GUARANTEE_RELATION_2(relation=relation, name=name)
    if not isinstance(target, notion):
        raise refusals.PRIVATIZE_PROMISE_4(
            target=target,
            name=name,
            name_2=notion.__name__,
            rewrite="promise=sf.Pure(1)" if notion is Pure else "promise=sf.Approx(1, 1e-6)",
        )
    mechanism = kind(
        sensitivity.statistic,
        **target.parameters,
        **sensitivity.public(),
        grid=grid,
        unit=unit or target.unit,
    )
    check_one_column(data)
    receipt = (
        None
        if ledger is None
        else ledger.charge(mechanism, memo=_memo(f, memo or f"privatize {f}"), share=share)
    )
    return Released(perturb_guarded(mechanism, data, bits, mechanism.low), mechanism, receipt)
