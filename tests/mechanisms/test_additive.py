"""What every additive mechanism does with values: types, shapes, ends, refusals; and that what
leaves is on the grid.
"""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.mechanisms.shared.grid import steps
from sfumato.testing import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable

MOST, LEAST = 2**63 - 1, -(2**63)
NAMES = {"Laplace": "scale", "Gaussian": "sigma"}
"""Mechanism to the name of its width."""

each = pytest.mark.parametrize("name", NAMES)


def make(name: str, width: object = 2, **others: Any) -> Any:
    return getattr(mech, name)(**{"sensitivity": 1, NAMES[name]: width} | others)


def on_grid(values: Any, grid: Fraction) -> bool:
    return all((Fraction(v) / grid).denominator == 1 for v in np.ravel(values).tolist())


# Integers stay integers.


@each
def test_an_int_gives_an_int(name: str) -> None:
    m = make(name)
    for value in (0, 42, -7, 10**30, np.int8(3), np.uint64(2**64 - 1)):
        released = m.perturb(value, bits=SeededBits(1))
        assert type(released) is int
        assert released == int(value) + m.law.draw(SeededBits(1))


@each
@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", ">i8", "uint8", "uint16", "uint32", "uint64"]
)
def test_arrays_of_every_integer_type(name: str, dtype: str) -> None:
    m = make(name, 50)
    values = np.arange(60, dtype=dtype).reshape(3, 4, 5)
    before = values.copy()
    released = m.perturb(values, bits=SeededBits(2))
    assert released.dtype == np.int64
    assert released.shape == (3, 4, 5)
    np.testing.assert_array_equal(
        released, values.astype(np.int64) + m.law.sample((3, 4, 5), SeededBits(2))
    )
    np.testing.assert_array_equal(values, before)


@each
def test_views_and_lists(name: str) -> None:
    m = make(name)
    base = np.arange(24).reshape(4, 6)
    base.flags.writeable = False
    noise = m.law.sample((6, 4), SeededBits(3))
    for values in (base.T, np.asfortranarray(base.T), base.T.tolist(), tuple(map(tuple, base.T))):
        np.testing.assert_array_equal(m.perturb(values, bits=SeededBits(3)), base.T + noise)
    np.testing.assert_array_equal(
        m.perturb(range(5), bits=SeededBits(3)), np.arange(5) + m.law.sample(5, SeededBits(3))
    )


@each
def test_python_integers_of_any_size(name: str) -> None:
    values = np.array(
        [2**100, -(2**100), 0], dtype=object
    )  # an array that says so; a list is one of int64
    released = make(name).perturb(values, bits=SeededBits(4))
    assert released.dtype == object
    assert [type(v) for v in released] == [int] * 3
    assert [int(r) - v for r, v in zip(released, values, strict=True)] == make(name).law.sample(
        3, SeededBits(4)
    ).tolist()


@each
def test_zero_dimensions(name: str) -> None:
    m = make(name)
    assert m.perturb(np.array(5), bits=SeededBits(5)) == 5 + m.law.draw(SeededBits(5))
    assert m.perturb(np.array(5, dtype=object), bits=SeededBits(5)) == 5 + int(
        m.law.sample((), SeededBits(5))
    )
    g = make(name, grid=0.25)
    assert on_grid(g.perturb(np.array(0.3)), Fraction(1, 4))
    assert on_grid(g.perturb(np.array(3, dtype=object)), Fraction(1, 4))


@each
@pytest.mark.parametrize(
    "values",
    [[], [[]], np.empty((0, 3)), np.empty(0, dtype=np.int32), np.empty((2, 0), dtype=object)],
    ids=lambda v: str(np.shape(v)),
)
def test_nothing_gives_nothing(name: str, values: Any) -> None:
    for m in (make(name), make(name, size=7), make(name, grid=1), make(name, grid=1, size=7)):
        released = m.perturb(values, bits=Untouchable())
        assert released.shape == np.shape(values)


@each
def test_the_ends_of_int64_saturate(name: str) -> None:
    m = make(name, 1000)
    released = m.perturb(np.repeat([MOST, LEAST], 500), bits=SeededBits(6))
    noise = m.law.sample(1000, SeededBits(6)).tolist()
    assert released.tolist() == [
        max(LEAST, min(MOST, end + z))
        for end, z in zip([MOST] * 500 + [LEAST] * 500, noise, strict=True)
    ]
    assert {MOST, LEAST} <= set(released.tolist())
    assert len(set(released.tolist())) > 100


@each
def test_uint64_saturates_like_int64(name: str) -> None:
    m = make(name, 1000)
    large = m.perturb(np.full(100, 2**64 - 1, dtype=np.uint64), bits=SeededBits(7))
    np.testing.assert_array_equal(large, m.perturb(np.full(100, MOST), bits=SeededBits(7)))


@each
def test_noise_that_does_not_fit_is_added_before_the_cut(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = make(name)
    noise = [2**70, -(2**70), 5, 2**63]
    monkeypatch.setattr(
        type(m.law),
        "sample",
        lambda self, shape, bits: np.array(noise, dtype=object).reshape(shape),
    )
    assert m.perturb(np.array([1, 1, 1, -2])).tolist() == [MOST, LEAST, 6, 2**63 - 2]
    assert m.perturb(np.array([1, 1, 1, -2], dtype=object)).tolist() == [
        1 + 2**70,
        1 - 2**70,
        6,
        2**63 - 2,
    ]


# Floats live on a public grid.


@each
@given(value=st.floats(allow_nan=False, allow_infinity=False), exponent=st.integers(-30, 30))
def test_floats_leave_on_the_grid(name: str, value: float, exponent: int) -> None:
    g = Fraction(2) ** exponent
    m = make(name, 5 * g, sensitivity=g, grid=g)
    snapped = max(-(2**62), min(2**62, math.floor(Fraction(value) / g + Fraction(1, 2))))
    released = m.perturb(value, bits=SeededBits(8))
    assert type(released) is float
    assert on_grid(released, g)
    assert released == float((snapped + m.law.draw(SeededBits(8))) * g)
    vector = make(name, 5 * g, sensitivity=g, grid=g, size=2).perturb(
        [value, 0.0], bits=SeededBits(8)
    )
    noise = m.law.sample(2, SeededBits(8)).tolist()
    assert vector.tolist() == [float((snapped + noise[0]) * g), float(noise[1] * g)]


@each
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f8"])
def test_floats_of_every_width(name: str, dtype: str) -> None:
    values = np.array([[0.1, -0.3], [1000.5, 65504]], dtype=dtype)
    m = make(name, 0.5, sensitivity=0.01, grid=2**-10, size=4)
    released = m.perturb(values, bits=SeededBits(9))
    assert released.dtype == np.float64
    assert released.shape == (2, 2)
    snapped = np.array(
        [math.floor(Fraction(float(v)) * 1024 + Fraction(1, 2)) for v in values.ravel()]
    ).reshape(2, 2)
    np.testing.assert_array_equal(released, (snapped + m.law.sample((2, 2), SeededBits(9))) / 1024)
    scalar = make(name, 0.5, sensitivity=0.01, grid=2**-10)
    assert scalar.perturb(values[0, 0], bits=SeededBits(9)) == scalar.perturb(
        float(values[0, 0]), bits=SeededBits(9)
    )


@each
def test_integers_on_a_grid(name: str) -> None:
    m = make(name, 4, grid=2, size=3)
    values = [3, -3, 2**64 - 1]
    expected = [2 + z for z in m.law.sample(3, SeededBits(10)).tolist()]
    released = m.perturb(np.array(values, dtype=object), bits=SeededBits(10))
    assert released.dtype == np.float64
    assert released[0] == 2 * expected[0]
    assert released[1] == 2 * (expected[1] - 3)  # −3/2 lies between −2 and −1, and goes up
    assert released[2] == pytest.approx(2.0**63)
    scalar = make(name, 4, grid=2)
    assert scalar.perturb(3, bits=SeededBits(10)) == 2.0 * (2 + scalar.law.draw(SeededBits(10)))


@each
@pytest.mark.parametrize("exponent", [-1000, -60, -30, -25, -20, 0, 7, 40, 1000])
def test_a_grid_written_as_a_float_or_exactly(name: str, exponent: int) -> None:
    """2**-30 has no short decimal text; it is a power of two all the same."""
    exact = Fraction(2) ** exponent
    assert make(name, 8 * exact, sensitivity=exact, grid=2.0**exponent) == make(
        name, 8 * exact, sensitivity=exact, grid=exact
    )
    assert make(name, 8 * exact, sensitivity=exact, grid=np.float64(2.0**exponent)).grid == exact


@each
def test_answers_too_large_for_a_double_are_infinite(name: str) -> None:
    m = make(name, Fraction(2) ** 1023, sensitivity=Fraction(2) ** 1000, grid=Fraction(2) ** 1000)
    assert {abs(m.perturb(1.7e308, bits=SeededBits(seed))) for seed in range(200)} > {math.inf}


@each
def test_many_draws_are_on_the_grid_and_centred(name: str) -> None:
    """The mean of 20,000 draws strays from 0.37 by more than 8 standard errors (plus half a step)
    with probability below 1e-14; 0.372 would be seen.
    """
    grid, n = Fraction(1, 2**20), 20_000
    m = make(name, "0.01", sensitivity=0.01, grid=grid, size=n)
    released = m.perturb(np.full(n, 0.37))
    assert on_grid(released[:2000], grid)
    np.testing.assert_array_equal(released * 2.0**20 % 1, 0)
    allowed = 8 * math.sqrt(m.variance / n) + float(grid) / 2
    assert abs(released.mean() - 0.37) < allowed < 0.001
    assert abs((released + 0.002).mean() - 0.37) > allowed


# What leaves an interval and a probability.


@each
@pytest.mark.parametrize("grid", [None, Fraction(1, 8), Fraction(1, 2**20), Fraction(4)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, "0.999999", Fraction(1, 3)])
def test_error_holds_and_no_smaller_one_does(
    name: str, grid: Fraction | None, confidence: Any
) -> None:
    m = make(name, 3 * (grid or 1), sensitivity=grid or 1, grid=grid)
    error = Fraction(m.error(confidence))
    steps = error if grid is None else error / grid - Fraction(1, 2)
    assert steps.denominator == 1
    k = int(steps)
    assert 2 * m.law.tail(k + 1, "up") <= 1 - Fraction(str(confidence))
    assert k == 0 or 2 * m.law.tail(k, "down") > 1 - Fraction(str(confidence))


@each
def test_error_covers_the_rounding_to_the_grid(name: str) -> None:
    """In every draw, |released − value| ≤ grid·(|noise| + ½), whatever the value."""
    grid = Fraction(1, 8)
    m = make(name, "1/4", sensitivity=grid, grid=grid)
    for k in range(33):
        value = k / 128
        noise = m.law.draw(SeededBits(k))
        assert abs(Fraction(m.perturb(value, bits=SeededBits(k))) - Fraction(value)) <= grid * (
            abs(noise) + Fraction(1, 2)
        )


@each
def test_error_is_rounded_up(name: str) -> None:
    """Beyond 2^53 steps the half-width is no double; it must not become a smaller one."""
    m = make(name, 1, sensitivity=1, grid=Fraction(2) ** -55)
    exact = m.grid * (m.law.half_width(0.95) + Fraction(1, 2))
    assert exact <= Fraction(m.error(0.95)) <= exact * (1 + Fraction(1, 2**52))
    huge = Fraction(2) ** 1020
    assert make(name, 4 * huge, sensitivity=huge, grid=huge).error(0.999999) == math.inf


@each
def test_probability_is_that_of_the_law(name: str) -> None:
    m = make(name)
    assert m.probability(3) == m.law.pmf(3)
    np.testing.assert_array_equal(
        m.probability([[0, -1], [2, 50]]), m.law.pmf(np.array([[0, -1], [2, 50]]))
    )
    refusal(lambda: m.probability(0.5), "noise.not-an-integer")


@each
def test_probability_on_a_grid(name: str) -> None:
    """A float is what its bits say: multiples of a fine grid have no short decimal text."""
    m = make(name, "0.01", sensitivity=0.01, grid=2**-20)
    steps = np.array([0, 1, -1, 3, 12345, -12345, 30001])
    np.testing.assert_array_equal(m.probability(steps * 2.0**-20), m.law.pmf(steps))
    assert all(
        m.probability(float(s * 2.0**-20)) == m.probability(Fraction(int(s), 2**20)) > 0
        for s in steps
    )
    assert m.probability(m.perturb(0.0)) > 0
    assert m.probability(2.0**-21) == 0
    assert m.probability(math.nextafter(2.0**-20, 1)) == 0
    refusal(lambda: m.probability(math.nan), "number.not-finite")


@each
def test_variance_is_in_units_of_the_value(name: str) -> None:
    assert make(name, 1, grid=2**-10).variance == pytest.approx(
        make(name, 1024, sensitivity=1024).variance * 2.0**-20, rel=1e-15
    )
    huge = Fraction(2) ** 600
    assert make(name, huge, sensitivity=huge, grid=huge).variance == math.inf


# Records.


@each
def test_records_are_frozen_values(name: str) -> None:
    m = make(name, "1/3", sensitivity="0.5", grid=0.25, size=3, relation="replace", unit="patient")
    assert m == make(
        name,
        Fraction(1, 3),
        sensitivity=0.5,
        grid=Fraction(1, 4),
        size=3,
        relation="replace",
        unit="patient",
    )
    assert len({m, copy.deepcopy(m), pickle.loads(pickle.dumps(m))}) == 1
    assert m != make(
        name, "1/3", sensitivity="0.5", grid=0.25, size=4, relation="replace", unit="patient"
    )
    for field in ("sensitivity", NAMES[name], "grid", "size", "relation", "unit", "new"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(m, field, 1)
    assert repr(m) == (
        f"{name}(sensitivity=0.5, {NAMES[name]}=1/3, grid=0.25, size=3, "
        f"relation='replace', unit='patient')"
    )
    assert repr(make(name)) == f"{name}(sensitivity=1, {NAMES[name]}=2)"


@each
def test_promises_carry_relation_and_unit(name: str) -> None:
    for promise in make(name, relation="add-remove", unit="user").promises:
        assert (promise.relation, promise.unit) == ("add-remove", "user")
    assert make(name).promise is not None
    assert (make(name).promise.relation, make(name).promise.unit) == (None, None)


@each
def test_parameters_are_named(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(mech, name)(1, 2)


# Refusals: before anything happens, with a code.

NO_VALUES = [
    (True, "value.type"),
    (False, "value.type"),
    (np.True_, "value.type"),
    ("1", "value.type"),
    (b"1", "value.type"),
    (None, "value.type"),
    (1j, "value.type"),
    (Fraction(1, 2), "value.type"),
    (Decimal("0.5"), "value.type"),
    (..., "value.type"),
    ({"a": 1}, "value.type"),
    ({1, 2}, "value.type"),
    ([True, False], "value.type"),
    (["1"], "value.type"),
    ([None], "value.type"),
    ([[1], [1, 2]], "value.type"),
    (np.longdouble(0.5), "value.type"),
    (np.zeros(3, dtype=np.longdouble), "value.type"),
    (np.zeros(3, dtype="M8[s]"), "value.type"),
    (np.timedelta64(3, "s"), "value.type"),
    (np.array([Fraction(1, 2)]), "value.type"),
]


@each
@pytest.mark.parametrize(("value", "code"), NO_VALUES, ids=repr)
def test_values_that_are_no_numbers(name: str, value: Any, code: str, no_entropy: None) -> None:
    for m in (make(name), make(name, grid=0.5), make(name, grid=0.5, size=3)):
        refusal(lambda m=m: m.perturb(value, bits=Untouchable()), code)
        refusal(lambda m=m: m.perturb(value), code)


@each
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
def test_values_that_are_not_finite(name: str, value: float, no_entropy: None) -> None:
    m, vector = make(name, grid=0.5), make(name, grid=0.5, size=3)
    for bad in (value, np.float32(value), np.array(value)):
        refusal(lambda bad=bad: m.perturb(bad, bits=Untouchable()), "value.not-finite")
    for width in (np.float16, np.float32, np.float64):
        refusal(
            lambda width=width: vector.perturb(
                np.array([0, value, 1], dtype=width), bits=Untouchable()
            ),
            "value.not-finite",
        )


@each
def test_floats_without_a_grid(name: str, no_entropy: None) -> None:
    for value in (0.5, 1.0, np.float32(2), [1, 2.0], np.zeros((2, 2))):
        refused = refusal(
            lambda value=value: make(name).perturb(value, bits=Untouchable()), "mechanism.grid"
        )
        assert "grid=2**" in refused.rewrite


@each
def test_the_number_of_coordinates_is_public(name: str, no_entropy: None) -> None:
    for m, value in [
        (make(name, grid=1), [0.5, 0.5]),
        (make(name, grid=1), [1, 2]),
        (make(name, grid=1, size=3), [0.5, 0.5]),
        (make(name, grid=1, size=3), 0.5),
        (make(name, grid=1, size=3), 7),
        (make(name, grid=1, size=3), np.zeros((2, 3))),
        (make(name, size=3), [1, 2]),
        (make(name, size=3), np.zeros((2, 3), dtype=int)),
    ]:
        refusal(lambda m=m, value=value: m.perturb(value, bits=Untouchable()), "mechanism.size")


@each
def test_the_bits_are_untouchable_indeed(name: str, no_entropy: None) -> None:
    """The twin of every refusal above: what is not refused does draw, and would fail."""
    for m, value in [
        (make(name), 1),
        (make(name), [1, 2]),
        (make(name, grid=1), 0.5),
        (make(name, grid=1, size=2), [0.5, 1]),
    ]:
        with pytest.raises(AssertionError, match="drawn"):
            m.perturb(value, bits=Untouchable())
        with pytest.raises(AssertionError, match="entropy"):
            m.perturb(value)


BAD_NUMBERS = [
    (0, "number.not-positive"),
    (-1, "number.not-positive"),
    (0.0, "number.not-positive"),
    (-0.0, "number.not-positive"),
    ("-1/2", "number.not-positive"),
    (math.nan, "number.not-finite"),
    (math.inf, "number.not-finite"),
    (-math.inf, "number.not-finite"),
    ("nan", "number.not-finite"),
    (Decimal("Infinity"), "number.not-finite"),
    (np.float32("inf"), "number.not-finite"),
    (5e-324, "number.subnormal"),
    (1e-310, "number.subnormal"),
    (Fraction(1, 2**1023), "number.subnormal"),
    (2**1024, "number.range"),
    ("1e309", "number.range"),
    ("1e999999999", "number.range"),
    (True, "number.type"),
    (np.True_, "number.type"),
    ([1], "number.type"),
    (1j, "number.type"),
    (..., "number.type"),
    ("", "number.text"),
    ("one", "number.text"),
    ("1/0", "number.text"),
]


@each
@pytest.mark.parametrize(("value", "code"), BAD_NUMBERS, ids=repr)
def test_sensitivity_width_and_error_are_positive_numbers(
    name: str, value: Any, code: str, no_entropy: None
) -> None:
    kind = getattr(mech, name)
    for call in (
        lambda: kind(sensitivity=value, **{NAMES[name]: 1}),
        lambda: kind(sensitivity=value, grid=1, **{NAMES[name]: 1}),
        lambda: kind(sensitivity=1, **{NAMES[name]: value}),
        lambda: kind(sensitivity=1, error=value),
        lambda: kind(sensitivity=1, grid=value, **{NAMES[name]: 1}),
    ):
        refusal(call, code)


@each
def test_sensitivity_is_asked_for(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(mech, name)(**{NAMES[name]: 1})
    refusal(lambda: make(name, sensitivity=None), "number.type")


@each
@pytest.mark.parametrize(
    "grid", [3, 0.3, 0.1, "1/3", 6, Fraction(3, 1024), math.nextafter(2**-20, 1)]
)
def test_the_grid_is_a_power_of_two(name: str, grid: Any, no_entropy: None) -> None:
    refused = refusal(lambda: make(name, grid=grid), "number.not-a-power-of-two")
    assert refused.rewrite.startswith("grid=2**")
    make(
        name, grid=2 ** Fraction(int(refused.rewrite.removeprefix("grid=2**")))
    )  # and the rewrite passes


@each
@pytest.mark.parametrize("size", [0, -1, 1.0, "3", True, 2**41, [3]], ids=repr)
def test_the_size_is_a_whole_number(name: str, size: Any, no_entropy: None) -> None:
    refusal(lambda: make(name, grid=1, size=size), "mechanism.size")


@each
def test_a_size_may_come_from_an_array(name: str) -> None:
    assert make(name, grid=1, size=np.int64(3)) == make(name, grid=1, size=3)
    assert type(make(name, grid=1, size=np.uint8(3)).size) is int


@each
@pytest.mark.parametrize("sensitivity", [0.5, 0.01, "0.999", 1e-300])
def test_a_small_sensitivity_needs_a_grid(name: str, sensitivity: Any, no_entropy: None) -> None:
    assert (
        "grid=2**" in refusal(lambda: make(name, sensitivity=sensitivity), "mechanism.grid").rewrite
    )


@each
@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, 95])
def test_a_confidence_is_a_probability(name: str, confidence: Any, no_entropy: None) -> None:
    refusal(
        lambda: getattr(mech, name)(sensitivity=1, error=5, confidence=confidence),
        "number.not-a-probability",
    )
    if confidence:
        refusal(lambda: make(name).error(confidence), "number.not-a-probability")


@each
def test_relation_and_unit_are_known(name: str, no_entropy: None) -> None:
    refusal(lambda: make(name, relation="hamming"), "guarantee.relation")
    refusal(lambda: make(name, relation=1), "guarantee.relation")
    refusal(lambda: make(name, unit=""), "guarantee.unit")
    refusal(lambda: make(name, unit=3), "guarantee.unit")


@each
def test_noise_too_wide_for_64_bits(name: str, no_entropy: None) -> None:
    refusal(lambda: make(name, 2**56 + 1), "noise.scale")
    refusal(lambda: make(name, 1, grid=Fraction(2) ** -57), "noise.scale")
    assert make(name, 2**56).law is not None


@each
def test_an_error_below_the_grid(name: str, no_entropy: None) -> None:
    refused = refusal(
        lambda: getattr(mech, name)(sensitivity=1, error="0.1", grid=1), "mechanism.calibration"
    )
    assert "grid" in refused.reason


def test_a_refusal_reads_as_the_interface_says() -> None:
    refused = refusal(lambda: mech.Laplace(sensitivity=1, epsilon="-1/2"), "number.not-positive")
    assert isinstance(refused, Refused)
    assert isinstance(refused, ValueError)
    assert str(refused) == (
        "refused [number.not-positive]  epsilon=-1/2\nwhy   epsilon must be above zero\n"
        "try   epsilon=1"
    )


@pytest.mark.parametrize(
    "entries", [[2**64 - 1], [2**64], [2**63, -1], [-(2**70), 0], [np.int64(3), 4], (1, 2)], ids=str
)
def test_a_list_has_one_type_whatever_is_in_it(entries: Any) -> None:
    """NumPy would make these int64, uint64, float64 or objects: the type itself would tell
    neighbours apart.
    """
    assert mech.Laplace(sensitivity=1, epsilon=1).perturb(entries).dtype == np.int64


def test_entries_of_a_list_are_snapped_one_by_one() -> None:
    """A float beside them must not round large integers: 2^60 + 129 and 2^60 + 128 are one step
    apart, not 256.
    """
    for low, high in ((2**60 + 128, 2**60 + 129), (2**54 + 2, 2**54 + 3)):
        assert steps([high, 0.5], 0)[0] - steps([low, 0.5], 0)[0] == 1


@pytest.mark.parametrize("bad", [[True], [1, None], ["1"], [[1], [1, 2]], [1 + 2j]], ids=str)
def test_lists_of_something_else(bad: Any) -> None:
    for record in (
        mech.Laplace(sensitivity=1, epsilon=1),
        mech.Laplace(sensitivity=1, epsilon=1, grid=1, size=1),
    ):
        refusal(lambda record=record: record.perturb(bad), "value.type")
