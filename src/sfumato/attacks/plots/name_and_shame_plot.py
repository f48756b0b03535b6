"""Plot the probability that somebody is published, by δ, for several numbers of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...guarantees.meaning.literature import name_and_shame
from ...plots.graphs import Graph, graphs
from ..lib.attack_text import format_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..name_and_shame import NameAndShame


def draw(result: NameAndShame) -> Figure:
    """Draw 1 − (1 − δ)^n over δ, and mark the attack's δ."""
    sizes = sorted({max(10, result.people // 100), result.people, 100 * result.people})
    deltas = np.geomspace(float(result.delta) / 10**4, min(0.5, 100 * float(result.delta)), 81)
    curves = {
        f"{format_number(n)} people": np.array([name_and_shame(d, n) for d in deltas])
        for n in sizes
    }
    at = float(result.delta), name_and_shame(result.delta, result.people)
    remark = f"{100 * at[1]:.3g} %"
    title = "at least one record is published"
    graph = Graph(
        title=title,
        x=deltas,
        curves=curves,
        across="δ",
        up="probability",
        logarithmic=True,
        point=at,
        remark=remark,
        shift=(10, -4),
    )
    return graphs([graph], title="Name and shame")
