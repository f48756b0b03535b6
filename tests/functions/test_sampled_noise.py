"""Noise scaled to a sampled sensitivity promises RandomDP, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.functions import SampledNoise
from sfumato.functions.sampled_noise import base_of
from sfumato.mechanisms.shared.mechanism import Mechanism
from sfumato.sensitivity import Sampled, SampledFunction, sample_sensitivity


def test_what_it_promises() -> None:
    sampled = sample_sensitivity(
        np.mean, oracle=np.random.default_rng(1).random, n=10, m=9, over="uniform records"
    )
    assert isinstance(sampled, Sampled)
    base = mech.Laplace(
        sensitivity=sampled.value, epsilon=1, grid=2**-20, relation="replace", unit="row"
    )
    noise = SampledNoise(base, sampled)
    assert noise.promises == (
        sf.RandomDP(
            sf.Pure(1, relation="replace", unit="row"), gamma="1/10", over="uniform records"
        ),
    )
    assert (noise.relation, noise.unit, noise.variance) == ("replace", "row", base.variance)
    assert noise.error(0.9) == base.error(0.9)
    assert isinstance(noise.perturb(0.5), float)
    for notion in (sf.Pure, sf.ZCDP):  # nothing follows from it
        with pytest.raises(Refused):
            noise.to(notion)


def test_its_base_is_not_handed_out(tmp_path: Path) -> None:
    """Its noise by itself would promise for all pairs: of what can be read from it, nothing can be
    charged but RandomDP, which no ledger takes.
    """
    sampled = sample_sensitivity(
        np.mean, oracle=np.random.default_rng(1).random, n=10, m=9, over="uniform records"
    )
    released = sf.privatize(np.mean, np.zeros(10), sensitivity=sampled, epsilon=1)
    book = sf.Ledger.open(
        tmp_path / "book", budget=sf.Pure(9), dataset="d", unit="row", relation="replace"
    )
    public = [
        released.mechanism,
        *(
            getattr(released.mechanism, name)
            for name in dir(released.mechanism)
            if not name.startswith("_")
        ),
    ]
    charged = [mechanism for mechanism in public if isinstance(mechanism, Mechanism | sf.Guarantee)]
    assert charged
    for mechanism in charged:
        with pytest.raises(Refused):
            book.charge(mechanism)
    assert book.spent.parameters["epsilon"] == 0


def test_what_is_public_of_the_noise() -> None:
    sampled = sample_sensitivity(np.mean, oracle=np.random.default_rng(1).random, n=10, m=9)
    base = mech.Laplace(sensitivity=2, epsilon=1, grid=2**-20, size=1)
    gaussian = mech.Gaussian(sensitivity=2, rho=1, grid=2**-20)
    noise = SampledNoise(base, sampled)
    assert (noise.law, noise.grid, noise.size, noise.sensitivity, noise.scale) == (
        base.law,
        base.grid,
        1,
        2,
        base.scale,
    )
    assert SampledNoise(gaussian, sampled).scale == gaussian.sigma
    assert "Laplace noise, RandomDP(" in repr(noise)
    assert SampledNoise(base, noise.random) == noise
    assert base_of(noise) is base_of(base) is base


def uncalled(data: Any) -> Any:
    raise AssertionError("the data were read")


@pytest.mark.parametrize(
    "data",
    [
        [0.1, 0.2, 0.3],
        np.zeros(3),
        np.zeros((3, 2)),
        {"x": [1, 2, 3]},
        pd.DataFrame({"x": [1, 2, 3]}),
        pl.DataFrame({"x": [1, 2, 3]}),
        "abc",
        iter([1]),
        {},
        5,
    ],
    ids=lambda data: type(data).__name__,
)
def test_data_of_another_number_of_records_are_refused(data: Any) -> None:
    """A sensitivity sampled between datasets of 10 records says nothing about 3 records; under
    replace the number is public, so it is compared. Under add-remove it is not public: no refusal
    may depend on it.
    """
    oracle = np.random.default_rng(1).random
    sampled = sample_sensitivity(np.mean, oracle=oracle, n=10, m=9)
    with pytest.raises(Refused) as refused:
        sf.privatize(uncalled, data, sensitivity=sampled, epsilon=1)
    assert refused.value.code == "sensitivity.size"
    function = sample_sensitivity(
        lambda records: lambda points: np.mean(records) * points, oracle=oracle, n=10, m=9
    )
    assert isinstance(function, SampledFunction)
    how = sf.Bernstein(function.fit, sensitivity=function, degree=4)
    with pytest.raises(Refused) as refused:
        how.release(data, epsilon=1)
    assert refused.value.code == "sensitivity.size"
    secret = sample_sensitivity(np.mean, oracle=oracle, n=10, m=9, relation="add-remove")
    assert isinstance(
        sf.privatize(
            lambda _: 0.5, data, sensitivity=secret, epsilon=1, relation="add-remove"
        ).value,
        float,
    )


def test_the_rewrite_passes_and_the_right_number_is_released() -> None:
    sampled = sample_sensitivity(np.mean, oracle=np.random.default_rng(1).random, n=3, m=9)
    for data in (
        [0.1, 0.2, 0.3],
        np.zeros(3),
        pd.DataFrame({"x": [1, 2, 3]}),
        pl.DataFrame({"x": [1, 2, 3]}),
        {"x": [1, 2, 3]},
    ):
        assert isinstance(
            sf.privatize(lambda _: 0.5, data, sensitivity=sampled, epsilon=1).value, float
        )
