"""The two ways to end without an answer."""

from __future__ import annotations

import pickle

import pytest

from sfumato.errors import EXTRAS, Failed, Refused, missing_package


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


@pytest.mark.parametrize(
    ("extra", "module"),
    [(extra, module) for extra, modules in EXTRAS.items() for module in modules],
)
def test_what_to_install_for_a_module_that_is_not_there(extra: str, module: str) -> None:
    refused = missing_package(ModuleNotFoundError("", name=f"{module}.inside"))
    assert refused is not None
    assert refused.rewrite == f"pip install 'sfumato[{extra}]'"
    assert missing_package(ModuleNotFoundError("", name="else")) is None


def test_failed_is_the_same_wherever_it_goes() -> None:
    again = pickle.loads(pickle.dumps(Failed()))
    assert str(again) == Failed.TEXT
