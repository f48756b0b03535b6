"""The two ways to end without an answer."""

from __future__ import annotations

import pickle
import re
import traceback

import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import EXTRAS, Failed, Refused, missing_package, render_box, trim_frames


def test_a_refusal_says_what_is_wrong_where_why_and_what_would_pass() -> None:
    assert (
        str(Refused("a.b", "x=1", "it is too small", "x=2"))
        == "refused [a.b]  x=1\nwhy   it is too small\ntry   x=2"
    )
    assert (
        str(Refused("a.b", "x=1", "it is too small")) == "refused [a.b]  x=1\nwhy   it is too small"
    )
    again = pickle.loads(pickle.dumps(Refused("a.b", "x=1", "it is too small", "x=2")))
    assert (again.code, again.place, again.reason, again.rewrite) == (
        "a.b",
        "x=1",
        "it is too small",
        "x=2",
    )


def test_a_mark_stays_under_its_word_whatever_python_writes_before_the_first_line() -> None:
    text = str(Refused("a.b", "SELECT foo\n       ^^^ no", "it is too small"))
    assert text == "refused [a.b]\n      SELECT foo\n             ^^^ no\nwhy   it is too small"


@trim_frames
def refuse_inside(depth: int) -> None:
    if depth:
        refuse_inside.__wrapped__(depth - 1)  # type: ignore[attr-defined]  # set by functools.wraps
    raise Refused("a.b", "x=1", "it is too small", "x=2")


def frames_of(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_a_public_function_raises_without_its_inner_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused) as caught:
        refuse_inside(5)
    assert frames_of(caught.value)[1:] == ["call"]
    monkeypatch.setenv("SFUMATO_DEBUG", "1")
    with pytest.raises(Refused) as caught:
        refuse_inside(5)
    assert frames_of(caught.value)[1:] == ["call", *["refuse_inside"] * 6]


@pytest.mark.parametrize(
    "statement",
    [
        "sf.protect(3, budget=1)",
        "table.sql('SELECT foo FROM people', epsilon=1)",
        "table.where('foo > 1')",
        "table['foo']",
        "table.group_by('foo')",
        "table.group_by('city').aggregate(n=3)",
        "table.plan('SELECT foo FROM people', epsilon=1)",
        "sf.mechanisms.Laplace(sensitivity=-1, epsilon=1)",
    ],
)
def test_a_script_shows_its_own_line_and_one_frame(statement: str) -> None:
    people = pd.DataFrame({"id": [1], "city": ["Bari"]})
    with (
        sf.protect(people, name="people", unit="id", budget=1) as table,
        pytest.raises(Refused) as caught,
    ):
        eval(statement, {"sf": sf, "table": table})
    assert frames_of(caught.value)[1:] == ["<module>", "call"]


def test_ipython_shows_the_text_in_colour_and_the_line_of_the_caller() -> None:
    with pytest.raises(Refused) as caught:
        refuse_inside(5)
    rule, *lines, caller, last = render_box(caught.value)
    assert rule == last
    plain = re.sub("\x1b\\[[0-9;]*m", "", "\n".join(lines))
    assert plain == str(caught.value)
    assert "\x1b[31m\x1b[1mrefused\x1b[0m [a.b]  x=1" in lines
    assert caller.endswith(": refuse_inside(5)\x1b[0m")
    assert caught.value._render_traceback_() == [rule, *lines, caller, last]


def test_what_a_user_typed_moves_no_cursor() -> None:
    lines = render_box(Refused("a.b", "'\x1b[2J\r'", "because"))
    assert r"'\x1b[2J\r'" in lines[1]
    assert "\r" not in "".join(lines)


def test_a_failure_in_ipython_shows_no_frame_either() -> None:
    _, *lines, _ = Failed()._render_traceback_()
    assert lines[0].startswith("\x1b[31m\x1b[1mfailed:\x1b[0m")
    assert re.sub("\x1b\\[[0-9;]*m", "", "\n".join(lines)) == Failed.TEXT


@pytest.mark.parametrize(
    ("extra", "module"),
    [(extra, module) for extra, modules in EXTRAS.items() for module in modules],
)
def test_what_to_install_for_a_module_that_is_not_there(extra: str, module: str) -> None:
    refused = missing_package(ModuleNotFoundError("", name=f"{module}.inside"))
    assert refused is not None
    assert (
        refused.rewrite == f"pip install '.[{extra}]'  # in a clone; elsewhere 'sfumato[{extra}]'"
    )
    assert missing_package(ModuleNotFoundError("", name="else")) is None


def test_failed_is_the_same_wherever_it_goes() -> None:
    again = pickle.loads(pickle.dumps(Failed()))
    assert str(again) == Failed.TEXT
