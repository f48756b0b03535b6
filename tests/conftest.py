"""Settings of the whole suite."""

from __future__ import annotations

import gc

import pytest
from hypothesis import settings

# A shared machine is slow at times; that says nothing about the code. Failures print what reproduces them.
settings.register_profile("sfumato", deadline=None, print_blob=True)
settings.load_profile("sfumato")


def pytest_collection_finish() -> None:
    """What was imported stays: the garbage collector need not look through all of it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def statements_are_made_anew(request: pytest.FixtureRequest) -> None:
    """A test that changes the code must not be given a statement that was made before."""
    if "monkeypatch" in request.fixturenames:
        request.getfixturevalue("monkeypatch").setattr("sfumato.tables.plan.LONGEST_KEPT", -1)
