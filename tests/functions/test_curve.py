"""A released curve: its values, its bands against the exact law, its text, and that it holds
nothing else.
"""

from __future__ import annotations

import copy
import gc
import json
import pickle
import pickletools
import sys
import types
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.functions.curve import Curve
from sfumato.functions.lattice import Lattice
from sfumato.functions.polynomial import basis, corrected, evaluate
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.testing import SeededBits


def curve(
    coefficients: Any, *, iterations: int = 1, bounds: Any = ((0, 1),), noise: Any = None
) -> Curve:
    values = np.asarray(coefficients, dtype=float)
    lattice = Lattice(degree=values.shape[0] - 1, bounds=bounds)
    mechanism = noise or Laplace(sensitivity=1, epsilon=1, grid=2**-10, size=values.size)
    return Curve(
        lattice, iterations, tuple(values.reshape(-1).tolist()), mechanism, mechanism.promise
    )


def test_values_and_shapes() -> None:
    line = curve([0.0, 1.0, 0.0])
    assert line(0.5) == 0.5
    assert isinstance(line(0.5), float)
    assert line([0.0, 0.5, 1.0]).tolist() == [0, 0.5, 0]
    assert line(np.zeros((3, 2))).shape == (3, 2)
    assert line(np.array([])).shape == (0,)
    assert line(1) == 0
    plane = curve(np.arange(9.0).reshape(3, 3), bounds=((0, 1), (0, 2)))
    assert plane([0, 2]) == 2
    assert plane([[0, 2], [1, 0]]).tolist() == [2, 6]
    assert plane(np.zeros((4, 5, 2))[0]).shape == (5,)


def test_iterated_curves_are_corrected() -> None:
    values = np.random.default_rng(3).normal(size=9)
    t = np.linspace(0, 1, 11)
    assert curve(values, iterations=3)(t) == pytest.approx(
        evaluate(corrected(values, 3), t[:, None])
    )


def tail(weights: list[float], noise: Any, beyond: float) -> float:
    """P(|Σ w·Z·step| > x), from the exact law, for weights that are multiples of 1/16."""
    reach = 8192
    multiples = [round(16 * w) for w in weights]
    assert multiples == [16 * w for w in weights]
    pmf = np.zeros(2 * reach + 1)
    pmf[reach] = 1.0
    law = np.asarray(noise.probability(np.arange(-400, 401) * float(noise.step)))
    for w in multiples:
        term = np.zeros(2 * reach + 1)
        term[reach + w * np.arange(-255, 256)] = law[400 - 255 : 400 + 256]
        size = 1 << 16
        pmf = np.fft.irfft(np.fft.rfft(pmf, size) * np.fft.rfft(term, size), size)[
            reach : 3 * reach + 1
        ]
    places = np.abs(np.arange(-reach, reach + 1)) * float(noise.step) / 16
    return float(pmf[places > beyond].sum())


@pytest.mark.parametrize("iterations", [1, 2])
@pytest.mark.parametrize("kind", [Laplace, Gaussian], ids=["Laplace", "Gaussian"])
def test_bands_against_the_exact_law(kind: Any, iterations: int) -> None:
    """At t = ½ of degree 2: weights 1/4, 1/2, 1/4. The exact chance to leave the band is below 5 %;
    of the band at half its width it is not.
    """
    by = {"epsilon": 1} if kind is Laplace else {"mu": "1/2"}
    noise = kind(sensitivity=10, grid=1, size=3, **by)
    band_curve = curve([0.0, 0.0, 0.0], noise=noise, iterations=iterations)
    rows = basis([0.0, 0.5, 1.0], 2)
    weights = (
        basis([0.5], 2)[0]
        if iterations == 1
        else 2 * basis([0.5], 2)[0] - basis([0.5], 2)[0] @ rows
    )
    half = band_curve.error(0.95, at=0.5)
    assert isinstance(half, float)
    assert tail(weights.tolist(), noise, half) <= 0.05
    assert tail(weights.tolist(), noise, half / 2) > 0.05
    assert tail([1.0, 0.0, 0.0], noise, band_curve.error(0.95, at=[0.0])[0]) <= 0.05


def test_the_band_of_the_whole_curve() -> None:
    """It is that of the largest noise. Iterated: of 300 curves at most 30 are expected to leave the
    90 % band (more than 70 with probability below 10⁻¹⁰); a quarter of that band is left by
    more.
    """
    once = curve(np.zeros(26))
    assert once.error(0.9) == once.noise.error(0.9, values=26)
    noise = Laplace(sensitivity=10, epsilon=1, grid=2**-10, size=11)
    t, bits = np.linspace(0, 1, 401), SeededBits(1)
    farthest = np.array(
        [
            np.abs(
                curve(noise.perturb(np.zeros(11), bits=bits), noise=noise, iterations=3)(t)
            ).max()
            for _ in range(300)
        ]
    )
    band = curve(np.zeros(11), noise=noise, iterations=3).error(0.9)
    assert (farthest > band).sum() <= 70
    assert (farthest > band / 4).sum() > 70
    assert curve(np.zeros(26), iterations=3).error(0.9) < 2 * once.error(0.9)
    t = np.linspace(0, 1, 40)
    assert (once.error(0.9, at=t) < once.error(0.9)).all()
    large = curve(np.zeros((60, 60)), bounds=((0, 1), (0, 1)), iterations=2)
    assert large.error() == 3 * large.noise.error(values=3600)
    assert large.error(at=[[0.1, 0.2]]).shape == (1,)
    assert once.error(at=np.array([])).shape == (0,)


@pytest.mark.parametrize(
    "promise",
    [sf.Pure(1), sf.ZCDP("0.1"), sf.RandomDP(sf.Pure(1), "1/5", over="drawn records")],
    ids=["pure", "zcdp", "random"],
)
def test_text_and_pickle(promise: sf.Guarantee) -> None:
    noise = (
        Gaussian(sensitivity=1, rho="0.1", grid=2**-20, size=9)
        if isinstance(promise, sf.ZCDP)
        else Laplace(sensitivity=1, epsilon=1, grid=2**-20, size=9)
    )
    lattice = Lattice(degree=2, bounds=((0, 1), ("1/3", 2)))
    original = Curve(lattice, 2, tuple(np.linspace(-1, 1, 9) / 3), noise, promise)
    for again in (
        Curve.from_json(original.to_json()),
        pickle.loads(pickle.dumps(original)),
        copy.deepcopy(original),
    ):
        assert again == original
        assert again([[0.5, 1.5]]) == original([[0.5, 1.5]])
        assert again.error() == original.error()
    assert "degree 2" in repr(original)
    assert "[0, 1] × [1/3, 2]" in repr(original)
    assert repr(promise) in repr(original)


@pytest.mark.parametrize(
    "change",
    [
        {"sfumato": "card"},
        {"version": 2},
        {"coefficients": ["0x0p+0"]},
        {"noise": {}},
        {"degree": "x"},
        {"bounds": 3},
    ],
    ids=range(6),
)
def test_texts_that_are_none(change: dict[str, Any]) -> None:
    stored = json.loads(curve([0.0, 1.0]).to_json())
    for content in (json.dumps({**stored, **change}), "nonsense", "[]", "null"):
        with pytest.raises(Refused, match=r"curve\.stored"):
            Curve.from_json(content)


def reachable(start: Any) -> list[Any]:
    """Every object that can be reached from one, types and modules aside: what a module holds is
    reached through any of its functions, and belongs to none of them.
    """
    modules = {
        id(vars(module)) for module in [*sys.modules.values()] if isinstance(module, ModuleType)
    }
    visited: dict[int, Any] = {}
    waiting = [start]
    while waiting:
        item = waiting.pop()
        if id(item) in visited or id(item) in modules or isinstance(item, type | ModuleType):
            continue
        visited[id(item)] = item
        waiting += gc.get_referents(item)
    return list(visited.values())


def test_it_holds_nothing_of_the_data_the_fit_or_the_noise() -> None:
    data = np.random.default_rng(4).random((50, 2))
    secrets: list[Any] = []

    def fit(records: Any) -> Any:
        def function(points: Any) -> Any:
            secrets.append(np.sin(points + 1) * records.sum())
            return secrets[-1]

        return function

    released = sf.Bernstein(fit, degree=6, sensitivity=1).release(
        data, epsilon=1, bits=SeededBits(5)
    )
    exact = secrets[-1]
    objects = reachable(released)
    assert not [
        item
        for item in objects
        if isinstance(
            item,
            types.FunctionType | types.MethodType | types.CellType | types.FrameType | np.ndarray,
        )
    ]
    assert not [item for item in objects if item is fit or item is data]
    floats = {item for item in objects if isinstance(item, float)}
    noise = np.array(released.coefficients) - exact
    assert not floats & {*exact.tolist(), *noise.tolist(), *data.reshape(-1).tolist()}
    stored, text = pickle.dumps(released), released.to_json()
    for number in (*exact.tolist(), *noise.tolist(), *data.reshape(-1).tolist()):
        assert np.float64(number).tobytes() not in stored
        assert float(number).hex() not in text
        assert repr(float(number)) not in text + repr(released)
    assert data.tobytes()[:64] not in stored
    assert b"fit" not in stored
    named = {
        str(argument)
        for opcode, argument, _ in pickletools.genops(stored)
        if opcode.name in ("GLOBAL", "SHORT_BINUNICODE") and argument
    }
    assert named <= {"builtins", "getattr", "sfumato.functions.curve", "Curve", "from_json"}


def test_the_search_would_find_a_closure() -> None:
    """The twin: what R's diffpriv returns, a closure over the data, is seen."""
    data = np.random.default_rng(4).random((50, 2))
    objects = reachable(lambda points: points * data.sum())
    assert [item for item in objects if isinstance(item, types.CellType)]
    assert [item for item in objects if item is data]


def test_a_curve_stored_by_the_first_version_is_read() -> None:
    """A file of version 1, never to be written again: later versions read it as the same curve."""
    stored = (Path(__file__).parents[1] / "vectors" / "stored" / "curve-v1.json").read_text(
        encoding="utf-8"
    )
    again = Curve.from_json(stored)
    assert again.promise == sf.Pure(1, relation="replace", unit="patient")
    assert (again.lattice.degree, again.lattice.dimensions, again.iterations) == (2, 2, 2)
    assert again([0.5, 0.75]) == pytest.approx(0.6253875941038132, abs=1e-12)
    assert again.to_json() == stored.strip()
