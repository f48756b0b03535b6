"""The Bernstein mechanism (Aldà & Rubinstein 2017): release a whole function of the data once,
evaluate it any number of times.

*Steps*        fit(data) is read at the (k + 1)^d points of a public lattice; the values are rounded
               to a public grid; exact integer noise; the noisy values are the coefficients of a
               Bernstein polynomial, iterated h times if wanted. Everything after the noise is
               processing.
*Promise*      that of the noise, for the move of all lattice values together: L1 for Laplace, L2
               for Gaussian. From the largest move S of one value alone, L1 is (k + 1)^d·S, the
               sources' scale, and L2 is (k + 1)^(d/2)·S; known L1 and L2 moves are smaller, and the
               least bound is taken. The degree k is public and is not the number of records.
*Completed*    as in privatize: if the fit raises or returns something other than numbers, values
               are 0. The sensitivity must be that of the fit so completed.
*Sampled*      with a sampled sensitivity the promise is RandomDP, which no ledger takes. The norm
               is fixed beforehand: L1 for Laplace, L2 for Gaussian.
*Error*        Curve.error for the noise, `approximation` for the polynomial.
*Proof*        docs/proofs/bernstein.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from ..exact.balls import sqrt_up
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..keywords import spell_out
from ..mechanisms.shared.additive import Additive
from ..noise.bits import SYSTEM, Bits
from ..sensitivity.kinds import Global, Norms, Sensitivity
from ..sensitivity.sampled import Sampled, SampledFunction
from . import function_refusals as refusals
from .calibration import PromiseOptions, check_usable, noise_for, promise_from
from .curve import Curve
from .guarded_call import ValueForm, call_guarded
from .lattice import Bounds, Lattice, check_bounds
from .polynomial import Floats, check_iterations
from .sampled_noise import SampledNoise, base_of, check_records
from .smoothness import hoelder_error, smooth_error

if TYPE_CHECKING:
    from ..ledger import Ledger

Fit = Callable[[Any], Callable[[Floats], ArrayLike]]
"""A function of data of any kind: it returns a function of points."""


class SensitiveFit(Protocol):
    """A fit that knows its sensitivity on a lattice."""

    def sensitivity(self, lattice: Lattice, relation: str | None) -> Norms:
        """Bound how far a neighbour moves the values on the lattice."""


NORMS = ("best", "1", "2", "inf")


@dataclass(frozen=True, slots=True, repr=False)
class Bernstein:
    """The release of a fit. `sensitivity` is a number (the largest move of a single value), a
    Global or a sampled one; by default the fit's own.
    """

    fit: Fit
    lattice: Lattice
    sensitivity: Number | Sensitivity | None
    iterations: int
    norm: str
    grid: Number | None
    slack: Number | None

    def __init__(
        self,
        fit: Fit,
        *,
        degree: int = 25,
        sensitivity: Number | Sensitivity | None = None,
        dimensions: int | None = None,
        bounds: Bounds | None = None,
        iterations: int = 1,
        norm: int | str = "best",
        grid: Number | None = None,
        slack: Number | None = None,
    ) -> None:
        if not callable(fit):
            raise refusals.FIT_IS_NO_FUNCTION(kind=type(fit).__name__)
        if str(norm) not in NORMS:
            raise refusals.UNKNOWN_NORM(norm=norm)
        fit_box = getattr(fit, "box", None) if bounds is None and dimensions is None else None
        put = object.__setattr__
        put(self, "fit", fit)
        put(
            self,
            "lattice",
            Lattice(
                degree=degree,
                bounds=check_bounds(bounds, dimensions) if fit_box is None else fit_box,
            ),
        )
        put(self, "sensitivity", sensitivity)
        put(self, "iterations", check_iterations(iterations))
        put(self, "norm", str(norm))
        put(self, "grid", grid)
        put(self, "slack", slack)
        if sensitivity is None and not hasattr(fit, "sensitivity"):
            raise refusals.SENSITIVITY_MISSING(sensitivity=None)
        if (
            isinstance(sensitivity, SampledFunction)
            and sensitivity.fit is not fit
            and sensitivity.fit != fit
        ):
            raise refusals.SAMPLED_FOR_ANOTHER_FIT()
        if sensitivity is not None and not isinstance(sensitivity, SampledFunction):
            check_usable(sensitivity)  # refuses a local sensitivity, for example

    def noise(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        relation: str | None = None,
        unit: str | None = None,
    ) -> Additive | SampledNoise:
        """Build the mechanism of a release with this promise, from public facts alone. Draws pairs
        of neighbours if the sensitivity must be sampled.
        """
        target = promise_from(epsilon, delta, promise, "Bernstein.release(…)")
        from_fit = self.sensitivity is None
        moves = self.moves(relation or target.relation)
        slack = Fraction(0) if from_fit and self.slack is None else self.slack
        return noise_for(
            moves,
            target,
            size=self.lattice.size,
            grid=self.grid,
            slack=slack,
            relation=relation,
            unit=unit,
        )

    def moves(self, relation: str | None = None) -> Norms:
        """Bound how far a neighbour moves the values on the lattice, in the chosen norm."""
        stated = self.sensitivity
        norms: Norms
        if stated is None:
            norms = cast("SensitiveFit", self.fit).sensitivity(self.lattice, relation or "replace")
        elif isinstance(stated, SampledFunction):
            norms = stated.on(self.lattice.points)
        elif isinstance(stated, Norms):
            norms = stated
        else:
            norms = Global(stated)  # type: ignore[arg-type]  # a Number: the constructor checked
        if isinstance(norms, Sampled):
            self._sampled_here(norms)
        return restrict_to_norm(norms, self.norm, self.lattice.size)

    @spell_out(PromiseOptions)
    def release(
        self,
        data: object,
        *,
        ledger: Ledger | None = None,
        memo: str = "",
        share: str | None = None,
        bits: Bits = SYSTEM,
        **stated: Unpack[PromiseOptions],
    ) -> Curve:
        """Release the private curve. With `ledger=`, charge its cost before reading the data."""
        if ledger is not None and isinstance(self.sensitivity, Sampled | SampledFunction):
            raise refusals.SAMPLED_SENSITIVITY_CHARGED(call="Bernstein.release(…, ledger=…)")
        if (accepts := getattr(self.fit, "accepts", None)) is not None:
            accepts(data)  # by type and public shape
        noise = self.noise(**stated)  # raises for a keyword that does not exist
        if isinstance(self.sensitivity, Sampled | SampledFunction):
            check_records(self.sensitivity, data)
        if ledger is not None:
            ledger.charge(
                noise,
                memo=memo or f"Bernstein({type(self.fit).__name__}, degree={self.lattice.degree})",
                share=share,
            )
        base = base_of(noise)
        form = ValueForm(
            (self.lattice.size,), 0.0, -math.inf, math.inf, integer_valued=base.grid is None
        )
        points, size = self.lattice.points, self.lattice.size
        values = base.perturb(
            call_guarded(lambda records: np.reshape(self.fit(records)(points), size), data, form),
            bits=bits,
        )
        return Curve(
            self.lattice, self.iterations, tuple(map(float, values.tolist())), noise, noise.promise
        )

    def approximation(
        self,
        *,
        hoelder: tuple[Number, Number] | None = None,
        smooth: tuple[int, Number] | None = None,
    ) -> float:
        """Bound the distance between the noiseless curve and the fitted function, for a smoothness
        class: `hoelder=(γ, L)` or `smooth=(derivatives, T)`.
        """
        if (hoelder is None) == (smooth is None):
            raise refusals.SMOOTHNESS_NOT_STATED_ONCE()
        if hoelder is not None:
            return hoelder_error(
                self.lattice, self.iterations, exponent=hoelder[0], constant=hoelder[1]
            )
        assert smooth is not None
        return smooth_error(self.lattice, self.iterations, order=smooth[0], bound=smooth[1])

    def _sampled_here(self, sampled: Sampled) -> None:
        if sampled.size != self.lattice.size:
            raise refusals.SAMPLED_ON_ANOTHER_LATTICE(
                sampled=sampled.size, points=self.lattice.size
            )

    def __repr__(self) -> str:
        return (
            f"Bernstein({type(self.fit).__name__}, degree={self.lattice.degree} on "
            f"{self.lattice.box}, iterations={self.iterations}, norm={self.norm})"
        )


def restrict_to_norm(norms: Norms, norm: str, size: int) -> Norms:
    """Keep the bound of one norm only; "best" keeps all bounds of a global sensitivity. A sampled
    sensitivity keeps L1 and L2 as sampled, never one derived from the other: γ holds for one norm,
    chosen beforehand.
    """
    if isinstance(norms, Sampled):
        l1 = {"2": sqrt_up(size * norms.l2_squared), "inf": size * norms.sup}.get(norm, norms.l1)
        square = {"1": norms.l1**2, "inf": size * norms.sup**2}.get(norm, norms.l2_squared)
        return replace(norms, l1=l1, l2_squared=square, sup=l1)
    if norm == "best":
        return norms
    move = {"1": norms.l1, "2": norms.l2_squared, "inf": norms.sup}[norm]
    if move is None:
        raise refusals.NORM_WITHOUT_BOUND(norm=norm)
    rounding = norms.rounding if isinstance(norms, Global) else None
    return Global(
        l1=move if norm == "1" else None,
        l2_squared=move if norm == "2" else None,
        sup=move if norm == "inf" else None,
        relation=norms.relation,
        rounding=rounding,
    )
