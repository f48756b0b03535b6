"""Records that check their arguments: what a converter gets, what is shown, compared and stored."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import dataclass
from dataclasses import field as field_of_dataclass
from fractions import Fraction

import jedi
import pytest
from attrs import field
from attrs.exceptions import FrozenInstanceError

from sfumato import Refused, mechanisms
from sfumato.exact.numbers import Number, positive
from sfumato.records import FIRST, LAST, PARTIAL, is_frozen_record, public_fields, record


def choose_height(value: int | None, record: Box = PARTIAL) -> int:
    return int(record.width) if value is None else value


@record(kw_only=True)
class Box:
    """A box, as high as it is wide unless a height is given."""

    unit: str | None = field(default=None, metadata=LAST)
    width: Fraction = field(converter=positive)
    height: int = field(default=None, converter=choose_height)
    _area: Fraction = field(init=False)

    @_area.default
    def _multiply(self) -> Fraction:
        return self.width * self.height


@record(kw_only=True)
class PaintedBox(Box):
    colour: str = field(metadata=FIRST)


@record(kw_only=True, init=False)
class Cube(Box):
    def __init__(self, *, volume: Number) -> None:
        self.__attrs_init__(width=round(float(positive(volume, "volume")) ** (1 / 3)))


def test_a_refusal_names_the_argument() -> None:
    with pytest.raises(Refused) as refused:
        Box(width=0)
    assert refused.value.place == "width=0"


def test_a_converter_sees_the_fields_before_it() -> None:
    assert Box(width="7/2").height == 3
    assert Box(width=2, height=5).height == 5


def test_a_written_constructor_runs_the_converters() -> None:
    assert Cube(volume=27) == Cube(volume="27.1")
    assert Cube(volume=27).height == 3
    with pytest.raises(Refused, match="volume=0"):
        Cube(volume=0)


def test_derived_private_fields_are_neither_shown_nor_compared() -> None:
    assert public_fields(Box) == ["width", "height", "unit"]
    changed = Box(width=2)
    object.__setattr__(changed, "_area", Fraction(9))
    assert changed == Box(width=2)
    assert hash(changed) == hash(Box(width=2))


def test_marked_fields_are_shown_first_and_last() -> None:
    assert public_fields(PaintedBox) == ["colour", "width", "height", "unit"]


def test_the_signature_shows_the_required_arguments_first_and_the_unit_last() -> None:
    assert list(inspect.signature(PaintedBox).parameters) == ["width", "colour", "height", "unit"]
    assert inspect.signature(Box).parameters["width"].annotation == "Number"
    assert list(inspect.signature(Cube).parameters) == ["volume"]


def test_records_are_frozen_slotted_and_copied_whole() -> None:
    box = Box(width=2, unit="m")
    with pytest.raises(FrozenInstanceError):
        box.height = 3  # type: ignore[misc]  # a record is frozen
    assert not hasattr(box, "__dict__")
    for again in (copy.copy(box), copy.deepcopy(box), pickle.loads(pickle.dumps(box))):
        assert again == box
        assert again._area == box._area


def test_a_frozen_record_is_known_by_its_own_class() -> None:
    class Heir(Box):
        pass

    kinds: list[type] = [Box, Cube, mechanisms.Laplace, Heir, Fraction]
    assert [is_frozen_record(kind) for kind in kinds] == [True, True, True, False, False]


def test_the_fields_of_a_dataclass_are_its_public_fields() -> None:
    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = field_of_dataclass(default=0, repr=False)

    assert public_fields(Point) == ["x"]
    assert is_frozen_record(Point)


def test_an_unknown_argument_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        Box(width=1, depth=2)  # type: ignore[call-arg]  # there is none


@pytest.mark.parametrize(
    ("kind", "some"),
    [
        (mechanisms.Laplace, {"sensitivity", "epsilon", "scale", "error", "grid", "unit"}),
        (mechanisms.Exponential, {"sensitivity", "epsilon", "prior", "candidates", "relation"}),
    ],
)
def test_a_notebook_shows_the_arguments(kind: type, some: set[str]) -> None:
    notebook = jedi.Interpreter(f"kind = {kind.__name__}(", [{kind.__name__: kind}])
    (shown,) = notebook.get_signatures()
    assert some <= {parameter.name for parameter in shown.params}
