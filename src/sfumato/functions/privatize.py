"""Any function of any data, with noise: for people who know how far it can move.

*Steps*      Everything public first: promise, sensitivity, shape and grid make a mechanism, or a
             refusal. Then the charge, if there is a ledger. Then the function is called, once, and
             its values get exact noise. From the call on, nothing that is raised, printed or
             returned depends on the data, but for the noisy values.
*Completed*  The sensitivity is that of the function as completed here. Values are clipped to
             `bounds`, if given. What is no number, has another shape than stated, or raises,
             becomes `default`: by default the middle of the bounds, or 0. A function that can fail
             has to move to and from that default by no more than its sensitivity.
*Not hidden* how long the function takes, and what it prints or stores itself.
*Proof*      docs/functions.md; the laws in docs/proofs/laplace.md and docs/proofs/gaussian.md, the
             grid in docs/proofs/grid.md
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, Any

from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Approx, Guarantee, Pure
from ..mechanisms.inverse_sensitivity import InverseSensitivity
from ..mechanisms.shared.additive import Additive
from ..mechanisms.smooth import SmoothLaplace
from ..noise.bits import SYSTEM, Bits
from ..sensitivity.kinds import Inverse, Smooth
from ..sensitivity.sampled import Sampled
from .calibration import Stated, noise_for, promised
from .guarded_call import Form, by_label, completed, form_of, known_labels
from .record_loop import attempted, known_list
from .released_value import Released
from .sampled_noise import SampledNoise, check_records, drawn_by

if TYPE_CHECKING:
    from ..ledger import Ledger, Receipt

OWN: dict[type, tuple[Any, type[Guarantee]]] = {
    Smooth: (SmoothLaplace, Approx),
    Inverse: (InverseSensitivity, Pure),
}
"""Sensitivities with a mechanism of their own, and the notion it promises."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is known before the data: the mechanism, and the form of the values that get its
    noise.
    """

    mechanism: Additive | SampledNoise
    noise: Additive
    form: Form


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
    """f(data) with noise: a number, with `size` or `shape` an array, with `labels` a dictionary.
    The promise is `epsilon` (and `delta`), or any of Pure, Approx, ZCDP, GDP.

    `sensitivity` is how far f moves between neighbours: a number (L1 for Laplace, L2 for Gaussian
    noise) or a value of `sf.sensitivity`. `slack` is how far f, as computed, may be from the f it
    is of. `labels` are public names, by which a dictionary or a Series is read.
    """
    if type(sensitivity) in OWN:
        return _by_its_own(
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
        raise Refused(
            "privatize.function",
            f"privatize({f!r:.40}, …)",
            "a function of the data is needed",
            "privatize(np.mean, data, …)",
        )
    names = None if labels is None else known_labels(labels, size, shape)
    count = size if names is None else len(names)
    made = _at_hand(
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
    receipt = None if ledger is None else _charged(ledger, made, _memo(f, memo), share)
    if isinstance(
        sensitivity, Sampled
    ):  # nothing is charged by now: with a ledger `_charged` has refused it
        check_records(sensitivity, data)
    if names is None:
        return Released(
            made.noise.perturb(completed(f, data, made.form), bits=bits), made.mechanism, receipt
        )
    values = made.noise.perturb(
        completed(lambda records: by_label(f(records), names), data, made.form), bits=bits
    )
    return Released(dict(zip(names, values.tolist(), strict=True)), made.mechanism, receipt)


def prepared(
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
) -> Prepared:
    """Everything that is settled before the data are read, or a refusal."""
    form = form_of(size=size, shape=shape, bounds=bounds, default=default)
    wanted = promised(epsilon, delta, promise, "privatize(…)")
    made = noise_for(
        sensitivity, wanted, size=form.size, grid=grid, slack=slack, relation=relation, unit=unit
    )
    noise = drawn_by(made)
    return Prepared(made, noise, replace(form, whole=noise.grid is None))


_kept: Any = lru_cache(maxsize=256, typed=True)(prepared)
_last: tuple[tuple[Any, ...], Prepared] | None = None


def _at_hand(*public: Any) -> Prepared:
    """What was prepared before of the same: the very same objects as last time, or equal ones of
    late. Only of what cannot change: a sensitivity of the caller's own kind may say something else
    tomorrow.
    """
    global _last
    last = _last
    if last is not None and all(map(is_, last[0], public)):
        return last[1]
    if not all(map(_lasting, public)):
        return prepared(*public)
    try:
        made: Prepared = _kept(*public)
    except TypeError:
        return prepared(*public)
    _last = (public, made)
    return made


def _lasting(value: Any) -> bool:
    """Whether this is a number, a name, a pair of them, or one of the library's own frozen
    records.
    """
    kind = type(value)
    if kind in PLAIN:
        return True
    if kind is tuple:
        return all(map(_lasting, value))
    made = vars(kind).get("__dataclass_params__")
    return (
        made is not None
        and bool(made.frozen and made.eq)
        and kind.__module__.startswith("sfumato.")
    )


PLAIN = frozenset({type(None), bool, int, float, str, Fraction, Decimal})
"""What is what it is equal to, for ever."""


def _charged(ledger: Ledger, made: Prepared, memo: str, share: str | None) -> Receipt:
    if isinstance(made.mechanism, SampledNoise):
        reason = (
            "a sampled sensitivity promises something for most pairs of neighbours only, "
            "which is no differential privacy: no ledger takes it"
        )
        raise Refused(
            "sensitivity.sampled",
            f"ledger, {made.mechanism.promise}",
            reason,
            "a Global sensitivity; or no ledger, and γ told beside the value",
        )
    return ledger.charge(made.mechanism, memo=memo, share=share)


def _memo(f: object, memo: str | None) -> str:
    return memo if memo is not None else f"privatize {getattr(f, '__name__', type(f).__name__)}"


def _by_its_own(
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
    """The statistic that a smooth or inverse sensitivity names, by the mechanism it is for."""
    name = type(sensitivity).__name__
    if f != sensitivity.statistic:
        reason = f"{name} is of the {sensitivity.statistic}, which its mechanism computes itself"
        raise Refused(
            "privatize.function",
            f"privatize({f!r:.40}, …)",
            reason,
            f"privatize({sensitivity.statistic!r}, data, …)",
        )
    wanted = promised(epsilon, delta, promise, "privatize(…)")
    if relation not in (None, "replace") or wanted.relation not in (None, "replace"):
        raise Refused(
            "guarantee.relation",
            f"relation={relation!r}",
            f"{name} is about replace: the number of values is public",
            "relation='replace'",
        )
    kind, notion = OWN[type(sensitivity)]
    if not isinstance(wanted, notion):
        raise Refused(
            "privatize.promise",
            f"promise={wanted!r:.60}",
            f"the mechanism of {name} promises {notion.__name__}",
            f"promise=sf.{notion.__name__}(…)",
        )
    mechanism = kind(
        sensitivity.statistic,
        **wanted.parameters,
        **sensitivity.public(),
        grid=grid,
        unit=unit or wanted.unit,
    )
    known_list(data)
    receipt = (
        None
        if ledger is None
        else ledger.charge(mechanism, memo=_memo(f, memo or f"privatize {f}"), share=share)
    )
    return Released(attempted(mechanism, data, bits, mechanism.low), mechanism, receipt)
