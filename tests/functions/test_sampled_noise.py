"""Noise scaled to a sampled sensitivity promises RandomDP, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.functions import SampledNoise
from sfumato.sensitivity import Sampled, sample_sensitivity


def test_what_it_promises() -> None:
    sampled = sample_sensitivity(np.mean, oracle=np.random.default_rng(1).random, n=10, m=9, over="uniform records")
    assert isinstance(sampled, Sampled)
    base = mech.Laplace(sensitivity=sampled.value, epsilon=1, grid=2**-20, relation="replace", unit="row")
    noise = SampledNoise(base, sampled)
    assert noise.promises == (sf.RandomDP(sf.Pure(1, relation="replace", unit="row"), gamma="1/10", over="uniform records"),)
    assert (noise.relation, noise.unit, noise.variance) == ("replace", "row", base.variance)
    assert noise.error(0.9) == base.error(0.9)
    assert isinstance(noise.perturb(0.5), float)
    for notion in (sf.Pure, sf.ZCDP):  # nothing follows from it
        with pytest.raises(Refused):
            noise.to(notion)
