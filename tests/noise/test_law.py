"""What the integer laws share: shapes, probabilities against rational arithmetic, rounding,
quantiles, and the rule that nothing is cut.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.exact.numbers import exact
from sfumato.noise.bits import CHUNK
from sfumato.noise.geometric import Geometric
from sfumato.noise.law import LARGEST_SCALE, SymmetricLaw, place, scale_in_range
from sfumato.noise.rounded_normal import RoundedNormal
from sfumato.testing import SeededBits

from . import truth
from .rational import Interval

LAWS = {
    "geometric": lambda scale: Geometric(scale=scale),
    "normal": lambda scale: RoundedNormal(sigma=scale),
}
MASSES = {"geometric": truth.geometric_mass, "normal": truth.normal_mass}
SCALES = [
    exact(text)
    for text in [
        "0.1",
        "1/3",
        "1",
        "22/7",
        "10",
        "1000.5",
        "1e6",
        "1e9",
        "1e15",
        "72057594037927936",
    ]
]

each_law = pytest.mark.parametrize("kind", LAWS)
each_scale = pytest.mark.parametrize("scale", SCALES, ids=str)


def points(scale: Fraction) -> list[int]:
    ahead = {0, 1, 2, *(math.ceil(scale * Fraction(x)) for x in (0.1, 0.5, 1, 2, 5, 9, 30))}
    return sorted(ahead | {-z for z in ahead})


def assert_enclosed(value: Interval, down: float, nearest: float, up: float) -> None:
    """`down` and `up` are the doubles next to a real number, `nearest` the nearer one."""
    low, high = value
    assert Fraction(down) <= low
    assert high <= Fraction(up)
    assert up - down <= 4 * math.ulp(down)  # one step each way, and one more for their texts
    assert abs(Fraction(nearest) - (low + high) / 2) <= (Fraction(up) - Fraction(down)) / 2


@each_law
@each_scale
def test_probabilities(kind: str, scale: Fraction) -> None:
    law = LAWS[kind](scale)
    for z in points(scale):
        expected = {
            "pmf": MASSES[kind](scale, z),
            "tail": truth.TAILS[kind](scale, z),
            "cdf": truth.TAILS[kind](scale, -z),
        }
        for name, value in expected.items():
            ask = getattr(law, name)
            assert_enclosed(value, ask(z, "down"), ask(z), ask(z, "up"))


@each_law
@pytest.mark.parametrize("scale", ["0.1", "1/3", "1", "22/7", "10"])
def test_pmf_sums_to_one(kind: str, scale: str) -> None:
    law = LAWS[kind](scale)
    width = 12 * math.ceil(Fraction(scale))
    z = np.arange(-width, width + 1)
    low, high = (
        sum(map(Fraction, [*law.pmf(z, side), 2 * law.tail(width + 1, side)]))
        for side in ("down", "up")
    )
    assert low <= 1 <= high
    assert high - low < 2.0**-50
    assert (np.diff(law.pmf(z[width:])) <= 0).all()
    assert (np.diff(law.cdf(z)) >= 0).all()
    assert law.pmf(z).tolist() == law.pmf(-z).tolist()


@each_law
@each_scale
def test_cdf_and_tail_are_one_law(kind: str, scale: Fraction) -> None:
    law = LAWS[kind](scale)
    for z in points(scale):
        assert (
            Fraction(law.cdf(z, "down")) + Fraction(law.tail(z + 1, "down"))
            <= 1
            <= Fraction(law.cdf(z, "up")) + Fraction(law.tail(z + 1, "up"))
        )
        assert law.cdf(z) == law.tail(-z)


@each_law
@pytest.mark.parametrize("z", [0, 10**5, 2**70, -(2**70)])
def test_probabilities_stay_in_their_range(kind: str, z: int) -> None:
    """One minus next to nothing is rounded to 1 and not beyond it, next to nothing to 0 and not
    below.
    """
    for scale in ("0.001", "1", "1e6"):
        law = LAWS[kind](scale)
        for ask in (law.pmf, law.cdf, law.tail):
            assert 0 <= ask(z, "down") <= ask(z) <= ask(z, "up") <= 1
    assert LAWS[kind](1).cdf(10**5, "up") == 1.0
    assert LAWS[kind](1).cdf(10**5, "down") == math.nextafter(1.0, 0.0)


LEVELS = [
    "1e-300",
    "1e-20",
    "0.001",
    "0.3",
    "0.49999",
    "0.5",
    "0.50001",
    "0.9",
    "0.999999",
    Fraction(1) - Fraction(1, 10**20),
]


@each_law
@each_scale
def test_quantile(kind: str, scale: Fraction) -> None:
    """P(Z ≤ z − 1) < p ≤ P(Z ≤ z), with no doubt about either."""
    tail = truth.TAILS[kind]
    for level in LEVELS:
        z = LAWS[kind](scale).quantile(level)
        assert tail(scale, 1 - z)[1] < Fraction(level) < tail(scale, -z)[0]


@each_law
@each_scale
@pytest.mark.parametrize("values", [1, 2, 300])
def test_half_width(kind: str, scale: Fraction, values: int) -> None:
    """The least k with P(|Z| ≤ k) ≥ confidence, for one draw or for many at once."""
    tail = truth.TAILS[kind]
    for confidence in ("0", "0.001", "0.5", "0.95", "0.999999"):
        k = LAWS[kind](scale).half_width(confidence, values=values)
        assert k >= 0
        assert (1 - 2 * tail(scale, k + 1)[1]) ** values > Fraction(confidence)
        assert k == 0 or (1 - 2 * tail(scale, k)[0]) ** values < Fraction(confidence)


@each_law
@pytest.mark.parametrize("scale", ["0.1", "1/3", "1", "22/7", "10"])
def test_variance(kind: str, scale: str) -> None:
    """Σ z²·P(Z = z) over all that a double can see."""
    width = math.ceil({"geometric": 60, "normal": 12}[kind] * Fraction(scale)) + 1
    exact_sum = sum(2 * z * z * MASSES[kind](Fraction(scale), z)[0] for z in range(1, width))
    assert LAWS[kind](scale).variance == pytest.approx(float(exact_sum), rel=1e-15)


def test_variance_of_large_scales() -> None:
    assert Geometric(scale=10**6).variance == pytest.approx(2e12 - 1 / 6, rel=1e-15)
    assert RoundedNormal(sigma=10**6).variance == pytest.approx(1e12 + 1 / 12, rel=1e-15)


@each_law
@pytest.mark.parametrize("scale", [3, 10**9])
@pytest.mark.parametrize(
    "shape",
    [
        (),
        0,
        (0,),
        1,
        (1,),
        7,
        (3, 4),
        (2, 0, 5),
        (2, 3, 4),
        CHUNK - 1,
        CHUNK,
        CHUNK + 1,
        (3, CHUNK),
    ],
    ids=str,
)
def test_shapes(kind: str, scale: int, shape: Any) -> None:
    sample = LAWS[kind](scale).sample(shape, SeededBits(1))
    assert sample.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert sample.dtype == np.int64
    assert sample.flags.writeable
    assert sample.size < 7 or len(np.unique(sample)) > 1


@each_law
def test_draws_are_python_integers(kind: str) -> None:
    assert {type(LAWS[kind](scale).draw()) for scale in ("0.1", 10, 10**12)} == {int}


def test_a_large_draw_in_a_later_chunk_keeps_the_earlier_ones() -> None:
    class Late(Geometric):
        def _fill(self, count: int, bits: Any) -> Any:
            part = super()._fill(count, bits)
            return part if count == CHUNK else place(part, 0, 1 << 100)

    sample = Late(scale=5).sample(CHUNK + 2, SeededBits(2))
    assert sample.dtype == object
    assert sample[:CHUNK].tolist() == Geometric(scale=5).sample(CHUNK, SeededBits(2)).tolist()
    assert sample[CHUNK] == 1 << 100
    assert {type(z) for z in sample.tolist()} == {int}


@pytest.mark.parametrize("value", [(1 << 63) - 1, -(1 << 63)])
def test_place_within_64_bits(value: int) -> None:
    values = np.zeros(3, dtype=np.int64)
    assert place(values, 1, value) is values
    assert values.tolist() == [0, value, 0]


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, 1 << 200])
def test_place_beyond_64_bits(value: int) -> None:
    placed = place(np.arange(3), 1, value)
    assert placed.dtype == object
    assert placed.tolist() == [0, value, 2]


@each_law
def test_arrays_of_points(kind: str) -> None:
    law = LAWS[kind](2)
    z = np.arange(6).reshape(2, 3)
    assert law.pmf(z).tolist() == [[law.pmf(int(k)) for k in row] for row in z]
    assert law.pmf(np.array([], dtype=np.int64)).shape == (0,)
    assert isinstance(law.pmf(np.int64(3)), float)
    assert law.tail([2**70, 0]).tolist() == [law.tail(2**70), law.tail(0)]


@each_law
@pytest.mark.parametrize(
    "z", [0.5, 1.0, "1", True, None, Fraction(1, 2), [2**70, 0.5], np.array([1.0])], ids=repr
)
def test_only_integers_have_a_probability(kind: str, z: Any) -> None:
    with pytest.raises(Refused) as caught:
        LAWS[kind](2).pmf(z)
    assert caught.value.code == "noise.not-an-integer"


@each_law
@pytest.mark.parametrize("p", [0, 1, -0.1, 1.1])
def test_levels_outside_are_refused(kind: str, p: float) -> None:
    with pytest.raises(Refused) as caught:
        LAWS[kind](2).quantile(p)
    assert caught.value.code == "number.not-a-probability"


def test_scales() -> None:
    assert scale_in_range("1/3", "scale") == Fraction(1, 3)
    assert scale_in_range(LARGEST_SCALE, "scale") == 1 << 56
    with pytest.raises(Refused) as caught:
        scale_in_range(LARGEST_SCALE + Fraction(1, 10**9), "scale")
    assert caught.value.code == "noise.scale"


@each_law
def test_laws_are_values(kind: str) -> None:
    law = LAWS[kind]("0.1")
    assert law == LAWS[kind](0.1) != LAWS[kind]("0.2")
    assert hash(law) == hash(LAWS[kind](Fraction(1, 10)))
    assert isinstance(law, SymmetricLaw)
