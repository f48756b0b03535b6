"""Keywords that several signatures share: what `inspect` and `help` show, and what is refused."""

from __future__ import annotations

import inspect
import pydoc
from dataclasses import dataclass
from typing import TypedDict, Unpack

import pytest

from sfumato import mechanisms
from sfumato.keywords import spell_out
from sfumato.mechanisms.shared.mechanism import Mechanism

KINDS = [
    kind
    for name in mechanisms.__all__
    if isinstance(kind := getattr(mechanisms, name), type) and issubclass(kind, Mechanism)
]


class Paint(TypedDict, total=False):
    colour: str
    layers: int


class Thick(Paint, total=False):
    width: float | None


@spell_out(Paint, colour="red")
def draw(shape: str, *, size: int = 1, **paint: Unpack[Paint]) -> tuple[str, int, Paint]:
    """Draw a shape."""
    return shape, size, paint


@dataclass(frozen=True, slots=True)
class Line:
    length: int
    paint: Paint

    @spell_out(Thick, layers=2)
    def __init__(self, *, length: int, **options: Unpack[Thick]) -> None:
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "paint", options)


def test_the_signature_shows_every_keyword_and_its_default() -> None:
    shown = "(shape: 'str', *, size: 'int' = 1, colour: 'str' = 'red', layers: 'int' = None) -> "
    assert str(inspect.signature(draw)).startswith(shown)
    assert "colour" in pydoc.render_doc(draw)
    assert (draw.__name__, draw.__doc__) == ("draw", "Draw a shape.")


def test_the_signature_of_a_class_shows_inherited_keys() -> None:
    parameters = inspect.signature(Line).parameters
    assert list(parameters) == ["length", "layers", "colour", "width"]
    assert parameters["length"].default is inspect.Parameter.empty
    assert [parameters[name].default for name in ("colour", "layers", "width")] == [None, 2, None]
    assert parameters["width"].annotation == "float | None"


def test_a_default_of_an_unknown_key_is_an_error_at_once() -> None:
    with pytest.raises(KeyError, match="color"):
        spell_out(Paint, color="red")(lambda **paint: paint)


def test_only_the_keywords_that_were_passed_arrive() -> None:
    assert draw("square") == ("square", 1, {})
    assert draw("square", size=2, layers=3) == ("square", 2, {"layers": 3})
    assert Line(length=1, width=None).paint == {"width": None}


@pytest.mark.parametrize("name", ["color", "options", "_", "paint"])
def test_other_keywords_are_type_errors_that_name_the_function(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^draw\(\) got an unexpected keyword argument '{name}'"):
        draw("square", **{name: 1})
    with pytest.raises(TypeError, match=rf"^Line\.__init__\(\) got an unexpected .* '{name}'$"):
        Line(length=1, **{name: 1})


def test_missing_arguments_are_type_errors_that_name_the_function() -> None:
    with pytest.raises(TypeError, match=r"draw\(\) missing 1 required positional argument"):
        draw(colour="blue")  # type: ignore[call-arg]  # refused
    with pytest.raises(TypeError, match=r"Line\.__init__\(\) missing 1 required keyword-only"):
        Line()  # type: ignore[call-arg]  # refused


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_mechanisms_show_their_keywords_and_refuse_others(kind: type[Mechanism]) -> None:
    parameters = inspect.signature(kind).parameters
    within = {mechanisms.Subsampled: "base", mechanisms.CountThreshold: "noise"}  # has the unit
    assert within.get(kind, "unit") in parameters
    assert all(p.kind is not inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    with pytest.raises(TypeError, match=rf"{kind.__name__}\.__init__\(\) got an unexpected"):
        kind(colour="red")
