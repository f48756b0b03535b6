"""Tables 3.1 and 3.2 and figure 3.1 of the thesis: Rényi privacy compared with differential
privacy.

*Table 3.1*   Each printed line is tried on a mechanism that can tell: Gaussian noise, whose
              divergences are known exactly. A line that fails is a misprint (E-07).
*Table 3.2*   The printed formulas, in plain arithmetic, against divergences computed by this
              library from the laws themselves.
*Figure*      The curves, and the claim that they stay below 1 (E-24).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import plots
from ..guarantees import GDP, Pure
from ..guarantees.loss_closed_forms import renyi_curves, renyi_table
from ..noise.continuous import Normal
from .printed import shown
from .study import Comparison, Study, StudyResult, StudyRow

P = 0.75
SCALE = 2.0
SIGMA = 2.0
ORDERS = (2, 10, 100)

FORMULAS: dict[str, Callable[[float], float]] = {
    "randomized response": lambda a: (
        math.log(P**a * (1 - P) ** (1 - a) + (1 - P) ** a * P ** (1 - a)) / (a - 1)
    ),
    "Laplace": lambda a: (
        math.log(
            a / (2 * a - 1) * math.exp((a - 1) / SCALE)
            + (a - 1) / (2 * a - 1) * math.exp(-a / SCALE)
        )
        / (a - 1)
    ),
    "Gaussian": lambda a: a / (2 * SIGMA**2),
}
"""Column 2 of table 3.2, with p = ¾, λ = 2, σ = 2."""

PURE = {
    "randomized response": abs(math.log(P / (1 - P))),
    "Laplace": 1 / SCALE,
    "Gaussian": math.inf,
}
"""Column 1."""


def table_3_1(_: int, __: int) -> StudyResult:
    """Try every line at σ = 1, sensitivity 1, α = 2: then ε = D₂ = 1. P is the law at 1, Q at 0,
    S = {z > 4}.
    """
    alpha, epsilon = 2.0, Normal(sigma=1).renyi(2, shift=1)
    p, q = Normal(sigma=1, location=1).tail(4), Normal(sigma=1).tail(4)
    small = Normal(sigma=2).renyi(2, shift=1)  # ε = ¼, where powers of ε are told apart
    moment = math.exp((alpha - 1) * small)
    two = float((Pure(1) + Pure(1)).epsilon())
    group = Normal(sigma=1).renyi(16 / 8, shift=8)
    rows = (
        StudyRow.claim(
            "row 1, left: e^(−ε)·Q(S|x) ≤ Q(S|y)",
            f"{shown(math.exp(-epsilon) * p)} ≤ {shown(q)}",
            f"e^(−ε)·Q(S|x)^(α/(α−1)) = {shown(math.exp(-epsilon) * p ** (alpha / (alpha - 1)))}",
            holds=math.exp(-epsilon) * p <= q,
            errata=("E-07",),
            sentence=(
                "The left side lacks the exponent α/(α − 1), which the text above the table has."
            ),
        ),
        StudyRow.claim(
            "row 1, right: Q(S|x) ≤ (e^ε·Q(S|y))^((α−1)/α)",
            f"{shown(p)} ≤ {shown((math.exp(epsilon) * q) ** ((alpha - 1) / alpha))}",
            "as printed",
            holds=p <= (math.exp(epsilon) * q) ** ((alpha - 1) / alpha),
        ),
        StudyRow.claim(
            "row 2: E[R^(α−1)] ≤ e^(ε[(α−1)ε])",
            f"{shown(moment)} ≤ {shown(math.exp(small * (alpha - 1) * small))}",
            f"≤ e^((α−1)ε) = {shown(math.exp((alpha - 1) * small))}",
            holds=moment <= math.exp(small * (alpha - 1) * small) * (1 + 1e-12),
            errata=("E-07",),
            sentence="There is an ε too many in the exponent.",
        ),
        StudyRow.claim(
            "row 3: E[log R] ≤ ε",
            f"{shown(Normal(sigma=1).renyi(1, shift=1))} ≤ {shown(epsilon)}",
            "as printed, in expectation only",
            holds=Normal(sigma=1).renyi(1, shift=1) <= epsilon,
        ),
        StudyRow.claim(
            "row 4: processing keeps (α, ε)",
            f"|N|: {shown(_folded(alpha))} ≤ {shown(epsilon)}",
            "as printed",
            holds=_folded(alpha) <= epsilon,
        ),
        StudyRow.claim(
            "row 5: two ε-DP answers are 3ε-DP",
            "3ε",
            f"{shown(two)}ε",
            holds=two == 3.0,
            errata=("E-07",),
            sentence="Two promises of ε add up to 2ε; 3ε is true, and a third too much.",
        ),
        StudyRow.claim(
            "row 5: two (α, ε) answers are (α, 2ε)",
            "2ε",
            f"{shown(2 * epsilon / epsilon)}ε",
            holds=Normal(sigma=1).renyi(2, shift=math.sqrt(2)) <= 2 * epsilon * (1 + 1e-12),
        ),
        StudyRow.claim(
            "row 6: (α/2^c, 3^c·ε) for groups of 2^c, here c = 3, α = 16",
            f"{shown(group)} ≤ {shown(27 * 8.0)}",
            "as printed",
            holds=group <= 27 * Normal(sigma=1).renyi(16, shift=1),
        ),
    )
    sentence = (
        "Three lines of the table are misprinted (E-07); each was tried on Gaussian noise, "
        "whose divergences are known exactly."
    )
    return StudyResult(rows=rows, sentence=sentence)


def _folded(alpha: float) -> float:
    """Compute D_α between |N(1, 1)| and |N(0, 1)| by quadrature: what processing leaves of it."""
    z = np.linspace(0, 14, 56_001)
    p = np.exp(-((z - 1) ** 2) / 2) + np.exp(-((z + 1) ** 2) / 2)
    q = 2 * np.exp(-(z**2) / 2)
    values = (p / q) ** alpha * q / math.sqrt(2 * math.pi)
    return math.log(float(np.trapezoid(values, z))) / (alpha - 1)


def table_3_2(_: int, __: int) -> StudyResult:
    """Check every formula at three orders."""
    rows = []
    for order in ORDERS:
        for row in renyi_table(order, truth=P, scale=SCALE, sigma=SIGMA, rounding="nearest"):
            value = FORMULAS[row.mechanism](order)
            rows.append(
                StudyRow.claim(
                    f"{row.mechanism}, α = {order}",
                    shown(value),
                    shown(row.renyi),
                    holds=math.isclose(value, row.renyi, rel_tol=1e-9),
                )
            )
    pure = renyi_table(2, truth=P, scale=SCALE, sigma=SIGMA, rounding="nearest")
    rows += [
        StudyRow.claim(
            f"{row.mechanism}, pure ε",
            shown(PURE[row.mechanism]),
            shown(row.pure),
            holds=math.isclose(PURE[row.mechanism], row.pure),
        )
        for row in pure
    ]
    sentence = (
        "The formulas are right (the derivation above them has wrong signs, E-45, and "
        "the result is right). They are for "
        "sensitivity 1: with Δ, λ becomes λ/Δ and σ becomes σ/Δ."
    )
    return StudyResult(rows=tuple(rows), sentence=sentence)


def figure_3_1(_: int, __: int) -> StudyResult:
    """Draw the curves to α = 100, and find where they cross 1."""
    alphas = np.geomspace(1.001, 100, 80)
    curves: dict[str, np.ndarray] = {}
    for scale, sigma in ((2.0, 2.0), (0.5, 1.0)):
        bounds = renyi_curves([float(a) for a in alphas], truth=P, scale=scale, sigma=sigma)
        curves[f"Laplace, λ = {scale:g}"] = np.array(bounds["Laplace"])
        curves[f"Gaussian, σ = {sigma:g}"] = np.array(bounds["Gaussian"])
        curves["randomized response, p = ¾"] = np.array(bounds["randomized response"])
    rows = tuple(
        StudyRow.claim(
            f"{name}: “always less than 1”",
            "< 1",
            f"{shown(float(values[-1]))} at α = 100",
            holds=bool(values.max() < 1),
            errata=("E-24",),
            sentence=_crossing(alphas, values),
        )
        for name, values in curves.items()
        if not name.startswith("randomized")  # of which the thesis does not say it
    )
    sentence = (
        "The thesis says of this figure that the Gaussian and the Laplace mechanism have "
        "“an error ε that is always less than 1” "
        "(E-24). The Gaussian curve is a line and "
        "grows without bound; the Laplace curve tends to Δ/λ, which is what one chooses. "
        "Nor is it an error: it is what is given away."
    )
    short = {
        name: name.replace("randomized response", "response")
        .replace("Gaussian", "Gauss")
        .replace(",", "")
        .replace(" = ", "=")
        for name in curves
    }
    limits = {short["Laplace, λ = 2"]: 0.5, short["Laplace, λ = 0.5"]: 2.0}
    picture = plots.orders(
        alphas,
        {short[name]: values for name, values in curves.items()},
        title="Rényi parameter of three mechanisms",
        limits=limits,
    )
    comparisons = (
        Comparison(
            what="ε at δ = 10⁻⁶ of Gaussian noise, σ = 2: exact curve instead of the best order",
            measure="ε",
            faithful=_converted(2.0, 1e-6),
            right=float(GDP(1 / 2.0).epsilon(1e-6)),
            remark="what a Rényi curve costs when it is turned into (ε, δ)",
        ),
    )
    return StudyResult(
        rows=rows, sentence=sentence, comparisons=comparisons, figures={"figure 3.1": picture}
    )


def _crossing(alphas: np.ndarray, values: np.ndarray) -> str:
    above = alphas[values >= 1]
    return (
        f"It is above 1 from α = {shown(float(above[0]), 3)} on."
        if len(above)
        else "It stays below 1, as its λ or p says."
    )


def _converted(sigma: float, delta: float) -> float:
    """Convert to ε by ρ + 2·√(ρ·ln(1/δ)), ρ = 1/(2σ²): the classical way at its best order."""
    rho = 1 / (2 * sigma**2)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


STUDIES = (
    Study(
        name="table-3.1",
        title="Properties of Rényi privacy",
        source="thesis, table 3.1",
        items=("S-112", "S-124"),
        run=table_3_1,
    ),
    Study(
        name="figure-3.1",
        title="Rényi curves of three mechanisms",
        source="thesis, figure 3.1",
        items=("S-034",),
        run=figure_3_1,
    ),
    Study(
        name="table-3.2",
        title="Parameters of Rényi privacy",
        source="thesis, table 3.2",
        items=("S-034",),
        run=table_3_2,
    ),
)
