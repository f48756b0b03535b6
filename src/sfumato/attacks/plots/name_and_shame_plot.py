"""How likely it is that somebody is published, by δ, for several numbers of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...guarantees.meaning.literature import name_and_shame
from ...plots.graphs import Graph, graphs
from ..lib.attack_text import spaced

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..name_and_shame import NameAndShame


def draw(found: NameAndShame) -> Figure:
    """1 − (1 − δ)^n over δ, with the δ at hand."""
    sizes = sorted({max(10, found.people // 100), found.people, 100 * found.people})
    deltas = np.geomspace(float(found.delta) / 10**4, min(0.5, 100 * float(found.delta)), 81)
    curves = {
        f"{spaced(n)} people": np.array([name_and_shame(d, n) for d in deltas]) for n in sizes
    }
    at = float(found.delta), name_and_shame(found.delta, found.people)
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
