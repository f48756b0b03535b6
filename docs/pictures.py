"""The pictures of the documentation, from the exact laws: the same files at every run.

`make docs` runs this before the pages are built; `python docs/pictures.py` does it alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfumato import mechanisms as mech
from sfumato import plots
from sfumato.mechanisms.additive import Additive
from sfumato.noise.continuous import Laplace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMAGES = Path(__file__).parent / "images"


def neighbours() -> Figure:
    """What may be published if the exact count is 42, over what may be published if it is 43."""
    epsilon, delta = 0.5, 0.001
    laplace = mech.Laplace(sensitivity=1, epsilon=epsilon)
    gaussian = mech.Gaussian(sensitivity=1, epsilon=epsilon, delta=delta)
    excess = _excess(gaussian, epsilon)
    return plots.ratios(
        [
            _neighbours(laplace, f"Laplace, ε = {epsilon}", "no ratio lies outside the band"),
            _neighbours(gaussian, f"Gaussian, ε = {epsilon}, δ = {delta}", f"excess outside the band: {excess:.2g} in all"),
        ],
        epsilon=epsilon,
        title="What a published number says about two neighbouring counts",
        across="published number",
    )


def _neighbours(m: Additive, title: str, remark: str) -> plots.Panel:
    published = np.arange(25, 61)
    laws = {f"if the exact count is {count}": np.asarray(m.probability(published - count)) for count in (42, 43)}
    return plots.Panel(title=title, remark=remark, integers=published, laws=laws)


def _excess(m: Additive, epsilon: float) -> float:
    """Σ (P(Z = z) − e^ε·P(Z + 1 = z))₊: the δ that is left at this ε."""
    z = np.arange(-200, 201)
    p, shifted = m.probability(z), m.probability(z - 1)
    return float(np.maximum(p - math.exp(epsilon) * shifted, 0).sum())


def laplace() -> Figure:
    """Density and distribution function of the continuous Laplace law, for several locations and scales."""
    x = np.linspace(-10, 10, 801)
    laws = {f"location {m}, scale {b}".replace("-", "−"): Laplace(location=m, scale=b) for m, b in ((0, 1), (0, 2), (0, 4), (-5, 4))}
    density = plots.Graph(
        title="density: the peak is 1/(2·scale)",
        x=x,
        curves={name: np.array([law.pdf(v) for v in x]) for name, law in laws.items()},
        across="x",
        up="density",
        heights=(0, 0.125, 0.25, 0.5),
    )
    distribution = plots.Graph(
        title="distribution function: ½ at the location",
        x=x,
        curves={name: np.array([law.cdf(v) for v in x]) for name, law in laws.items()},
        across="x",
        up="P(X ≤ x)",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    return plots.graphs([density, distribution], title="The Laplace law")


def error() -> Figure:
    """The error of one count against ε, and of many counts against their number."""
    delta = 1e-6
    epsilons = np.geomspace(0.01, 2, 800)
    one = plots.Graph(
        title="one count: the error is a whole number",
        x=epsilons,
        curves={
            "Laplace, pure ε": np.array([mech.Laplace(sensitivity=1, epsilon=e).error(0.95) for e in epsilons], dtype=np.float64),
            "Gaussian, (ε, 10⁻⁶)": np.array([mech.Gaussian(sensitivity=1, epsilon=e, delta=delta).error(0.95) for e in epsilons], dtype=np.float64),
        },
        across="ε",
        up="error(0.95)",
        logarithmic=True,
    )
    counts = np.arange(1, 31)
    laplace = np.array([math.sqrt(mech.Laplace(sensitivity=int(k), epsilon=1).variance) for k in counts])
    gaussian = np.array([math.sqrt(mech.Gaussian(sensitivity=math.sqrt(k), epsilon=1, delta=delta).variance) for k in counts])
    first = int(np.argmax(gaussian < laplace))
    many = plots.Graph(
        title="k counts at once, ε = 1 for all together",
        x=counts.astype(np.float64),
        curves={"Laplace, pure ε": laplace, "Gaussian, (ε, 10⁻⁶)": gaussian},
        across="number of counts k",
        up="standard deviation of each",
        point=(float(counts[first]), float(gaussian[first])),
        remark=f"from k = {counts[first]} on\nthe Gaussian is better",
    )
    return plots.graphs([one, many], title="How far off, and which noise")


PICTURES: tuple[Callable[[], Figure], ...] = (neighbours, laplace, error)


def write(folder: Path) -> list[Path]:
    """Draw every picture into a folder, under the name of its function."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for picture in PICTURES:
        files.append(folder / f"{picture.__name__}.png")
        picture().savefig(files[-1], metadata={"Software": None})
    return files


if __name__ == "__main__":
    write(IMAGES)
