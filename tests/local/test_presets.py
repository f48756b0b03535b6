"""Real deployments: the ε that their published parameters give, by arithmetic."""

from __future__ import annotations

import json
import math

import pytest

from sfumato.local import FrequencyOracle, Rappor, presets, restore
from sfumato.testing import SeededBits

GIVES = {
    "coin_toss": math.log(3),
    "chrome_homepage": 2 * math.log((0.625 * 0.625) / (0.375 * 0.375)),
    "chrome_settings": 2 * math.log((0.625 * 0.625) / (0.375 * 0.375)),
    "rappor_paper": 2 * math.log((11 / 16) * (7 / 16) / ((9 / 16) * (5 / 16))),
    "apple_emoji": 4.0,
    "apple_safari_energy": 4.0,
    "apple_mail_domains": 8.0,
}


@pytest.mark.parametrize("name", presets.PRESETS)
def test_what_one_report_really_keeps(name: str) -> None:
    oracle = presets.PRESETS[name](["yes", "no"])
    assert isinstance(oracle, FrequencyOracle)
    assert float(oracle.epsilon) == pytest.approx(GIVES[name], rel=1e-9)
    assert restore(json.dumps(oracle.question)) == oracle
    assert getattr(presets, name) is presets.PRESETS[name]


@pytest.mark.parametrize("name", ["chrome_homepage", "chrome_settings", "rappor_paper"])
def test_a_life_long(name: str) -> None:
    """4 ln 3 for each value of a life, however many reports are made of it."""
    oracle = presets.PRESETS[name](["a", "b"], unit="browser")
    assert isinstance(oracle, Rappor)
    assert oracle.lifetime().epsilon() == pytest.approx(4 * math.log(3), rel=1e-9)
    assert oracle.unit == "browser"


@pytest.mark.parametrize("name", ["coin_toss", "chrome_settings", "apple_safari_energy"])
def test_it_works(name: str) -> None:
    oracle = presets.PRESETS[name](["a", "b"])
    estimate = oracle.estimate(oracle.perturb(["a"] * 1500 + ["b"] * 500, bits=SeededBits(1)))
    assert abs(estimate["a"] - 0.75) < 0.35


def test_every_preset_has_a_source() -> None:
    assert all(
        preset.source and preset.who and preset.what and preset.claim
        for preset in presets.PRESETS.values()
    )
