"""The Bernstein mechanism (Aldà & Rubinstein 2017): a whole function of the data, released once,
evaluated as often as one likes.

*Steps*        fit(data) is read at the (k + 1)^d points of a public lattice; the values are rounded
               to a public grid; exact integer noise; the noisy values are the coefficients of a
               Bernstein polynomial, iterated h times if wanted. Everything after the noise is
               processing.
*Promise*      that of the noise, for the move of all lattice values together: L1 for Laplace, L2
               for Gaussian. From the largest move S of one value alone, L1 is (k + 1)^d·S, the
               sources' scale, and L2 is (k + 1)^(d/2)·S; known L1 and L2 moves are smaller, and the
               least bound is taken. The degree k is public and is not the number of records.
*Completed*    as in privatize: where the fit raises, or gives something else than numbers, values
               are 0. The sensitivity is that of the fit so completed.
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
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Refused
from ..exact.balls import sqrt_up
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..mechanisms.shared.additive import Additive
from ..noise.bits import SYSTEM, Bits
from ..sensitivity.kinds import Global, Norms, Sensitivity
from ..sensitivity.sampled import Sampled, SampledFunction
from .calibration import noise_for, promised, usable
from .curve import Curve
from .guarded_call import Form, completed
from .lattice import Lattice, known_bounds
from .polynomial import known_iterations
from .sampled_noise import SampledNoise, check_records, drawn_by
from .smoothness import hoelder_error, smooth_error

if TYPE_CHECKING:
    from ..ledger import Ledger

Fit = Callable[[Any], Callable[[Any], Any]]
NORMS = ("best", "1", "2", "inf")


@dataclass(frozen=True, slots=True, repr=False)
class Bernstein:
    """How a fit is released. `sensitivity`: a number (the largest move of a single value), a Global
    or sampled one; left out, the fit's own.
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
        bounds: Any = None,
        iterations: int = 1,
        norm: int | str = "best",
        grid: Number | None = None,
        slack: Number | None = None,
    ) -> None:
        if not callable(fit):
            raise Refused(
                "bernstein.fit",
                f"fit={type(fit).__name__}",
                "a fit is called on data and returns a function of points",
                "Bernstein(KernelDensity(0.1))",
            )
        if str(norm) not in NORMS:
            raise Refused(
                "sensitivity.norm",
                f"norm={norm!r:.40}",
                "moves are measured by their sum, the root of their squares, or the largest",
                "norm='best'",
            )
        own = getattr(fit, "box", None) if bounds is None and dimensions is None else None
        put = object.__setattr__
        put(self, "fit", fit)
        put(
            self,
            "lattice",
            Lattice(degree=degree, bounds=known_bounds(bounds, dimensions) if own is None else own),
        )
        put(self, "sensitivity", sensitivity)
        put(self, "iterations", known_iterations(iterations))
        put(self, "norm", str(norm))
        put(self, "grid", grid)
        put(self, "slack", slack)
        if sensitivity is None and not hasattr(fit, "sensitivity"):
            usable(None)  # type: ignore[arg-type]  # refuses: it has to be said
        if (
            isinstance(sensitivity, SampledFunction)
            and sensitivity.fit is not fit
            and sensitivity.fit != fit
        ):
            reason = "the sensitivity would be sampled of another fit than the one that is released"
            raise Refused(
                "bernstein.fit", "sensitivity=sample_sensitivity(…)", reason, "the same fit in both"
            )
        if sensitivity is not None and not isinstance(sensitivity, SampledFunction):
            usable(sensitivity)  # a local one, among others, is refused here

    def noise(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        relation: str | None = None,
        unit: str | None = None,
    ) -> Additive | SampledNoise:
        """The mechanism that a release with this promise uses: from public things alone. Draws
        pairs where the sensitivity is to be sampled.
        """
        asked = promised(epsilon, delta, promise, "Bernstein.release(…)")
        own = self.sensitivity is None
        moves = self.moves(relation or asked.relation)
        slack = Fraction(0) if own and self.slack is None else self.slack
        return noise_for(
            moves,
            asked,
            size=self.lattice.size,
            grid=self.grid,
            slack=slack,
            relation=relation,
            unit=unit,
        )

    def moves(self, relation: str | None = None) -> Norms:
        """How far a neighbour moves the values on the lattice, in the norm asked for."""
        stated = self.sensitivity
        if stated is None:
            known: Norms = self.fit.sensitivity(self.lattice, relation or "replace")  # type: ignore[attr-defined]
        elif isinstance(stated, SampledFunction):
            known = stated.on(self.lattice.points)
        elif isinstance(stated, Norms):
            known = stated
        else:
            known = Global(stated)  # type: ignore[arg-type]  # how far any single value moves
        if isinstance(known, Sampled):
            self._sampled_here(known)
        return measured(known, self.norm, self.lattice.size)

    def release(
        self,
        data: Any,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        relation: str | None = None,
        unit: str | None = None,
        ledger: Ledger | None = None,
        memo: str = "",
        share: str | None = None,
        bits: Bits = SYSTEM,
    ) -> Curve:
        """The private curve. With `ledger=`, its cost is charged before the data are read."""
        if ledger is not None and isinstance(self.sensitivity, Sampled | SampledFunction):
            reason = (
                "a sampled sensitivity promises RandomDP, for most pairs only: no ledger takes it"
            )
            raise Refused(
                "sensitivity.sampled",
                "release(…, ledger=…)",
                reason,
                "a global sensitivity, or a fit that has its own",
            )
        if (accepts := getattr(self.fit, "accepts", None)) is not None:
            accepts(data)  # by type and public shape
        noise = self.noise(
            epsilon=epsilon, delta=delta, promise=promise, relation=relation, unit=unit
        )
        if isinstance(self.sensitivity, Sampled | SampledFunction):
            check_records(self.sensitivity, data)
        if ledger is not None:
            ledger.charge(
                noise,
                memo=memo or f"Bernstein({type(self.fit).__name__}, degree={self.lattice.degree})",
                share=share,
            )
        base = drawn_by(noise)
        form = Form((self.lattice.size,), 0.0, -math.inf, math.inf, whole=base.grid is None)
        points, size = self.lattice.points, self.lattice.size
        values = base.perturb(
            completed(lambda records: np.reshape(self.fit(records)(points), size), data, form),
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
        """How far the curve without noise is from the fitted function at most, for a smoothness
        class: `hoelder=(γ, L)` or `smooth=(derivatives, T)`.
        """
        if (hoelder is None) == (smooth is None):
            raise Refused(
                "bernstein.smoothness",
                "approximation(…)",
                "say how smooth the function is, in one way",
                "approximation(smooth=(2, 10))",
            )
        if hoelder is not None:
            return hoelder_error(
                self.lattice, self.iterations, exponent=hoelder[0], constant=hoelder[1]
            )
        assert smooth is not None
        return smooth_error(self.lattice, self.iterations, order=smooth[0], bound=smooth[1])

    def _sampled_here(self, known: Sampled) -> None:
        if known.size != self.lattice.size:
            place = f"a sensitivity sampled at {known.size} values"
            raise Refused(
                "bernstein.lattice",
                place,
                f"this lattice has {self.lattice.size} points",
                "sf.sample_sensitivity(fit, …) of a fit that returns functions",
            )

    def __repr__(self) -> str:
        return (
            f"Bernstein({type(self.fit).__name__}, degree={self.lattice.degree} on "
            f"{self.lattice.box}, iterations={self.iterations}, norm={self.norm})"
        )


def measured(known: Norms, norm: str, size: int) -> Norms:
    """Only what one norm says; "best" leaves a global one as it is. Of a sampled one L1 and L2 are
    taken as each was sampled, not from one another: γ is for one norm, chosen beforehand.
    """
    if isinstance(known, Sampled):
        l1 = {"2": sqrt_up(size * known.l2_squared), "inf": size * known.sup}.get(norm, known.l1)
        square = {"1": known.l1**2, "inf": size * known.sup**2}.get(norm, known.l2_squared)
        return replace(known, l1=l1, l2_squared=square, sup=l1)
    if norm == "best":
        return known
    one = {"1": known.l1, "2": known.l2_squared, "inf": known.sup}[norm]
    if one is None:
        raise Refused(
            "sensitivity.norm",
            f"norm={norm}",
            "the sensitivity is not known in this norm",
            "norm='best'",
        )
    rounding = known.rounding if isinstance(known, Global) else None
    return Global(
        **{{"1": "l1", "2": "l2_squared", "inf": "sup"}[norm]: one},  # type: ignore[arg-type]
        relation=known.relation,
        rounding=rounding,
    )
