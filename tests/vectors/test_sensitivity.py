"""Published numbers about sampled sensitivities: how many pairs, which of them, and what noise
scaled to them is worth at its worst.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.functions.fits import PriestleyChao
from sfumato.sensitivity.sampling_plan import plan

from . import oracles

THEME = oracles.load("sensitivity")
LATTICE = np.arange(26) / 25


def s087(i: dict[str, Any]) -> dict[str, Any]:
    """The cases in the order of the names."""
    plans = {}
    for name, (m, gamma) in zip(("m500_g.2", "g.1", "g.05", "m500"), i["cases"], strict=True):
        chosen = plan(m=m, gamma=gamma, kind="diffpriv")
        plans[name] = {
            "m": chosen.m,
            "gamma": float(chosen.gamma),
            "k": chosen.k,
            "rho": chosen.rho,
            "gamma_lo": chosen.least_gamma,
        }
    return plans


def worst_pair() -> np.ndarray[Any, Any]:
    """The curves of 99 records at x = 0 and one at x = 1 whose y is 1 or −1, with the thesis's
    kernel, on the lattice: how far apart they are.
    """
    fit = PriestleyChao("0.1", normalised=False)
    records = np.zeros((100, 2))
    records[-1] = 1, 1
    neighbour = records.copy()
    neighbour[-1] = 1, -1
    return np.abs(fit(records)(LATTICE) - fit(neighbour)(LATTICE))


def e38(i: dict[str, Any]) -> dict[str, float]:
    """The loss of the worst pair is its L1 distance over the scale of the noise, 26·S/ε at ε =
    1.
    """
    l1 = float(worst_pair().sum())
    return {
        "l1_change": l1,
        "true_eps_N100": l1 / (26 * i["S_N100"]),
        "true_eps_N5000": l1 / (26 * i["S_N5000"]),
    }


EVALUATE: oracles.Evaluators = {"S-087": s087, "E-38": e38}


@pytest.mark.parametrize("oracle", THEME, ids=lambda oracle: oracle.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_E_38_one_record_moves_the_curve_by_twenty() -> None:
    assert worst_pair().max() == pytest.approx(20)
