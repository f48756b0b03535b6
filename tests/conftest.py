"""Settings of the whole suite."""

from __future__ import annotations

import gc

import pytest
from hypothesis import settings

# A shared machine is slow at times; that says nothing about the code. Failures print what
# reproduces them.
settings.register_profile("sfumato", deadline=None, print_blob=True)
settings.load_profile("sfumato")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported stays: the garbage collector need not look through all of it again and
    again.
    """
    _grouped(session)
    gc.collect()
    gc.freeze()


def _grouped(session: pytest.Session) -> None:
    """Tests that share a server or a cluster run in one process: a pytest whose identifiers xdist
    cannot mark would start one in each, and say nothing.
    """
    if getattr(session.config.option, "loadgroup", False):
        marked = [item.nodeid for item in session.items if item.get_closest_marker("xdist_group")]
        if any("@" not in name.rpartition("]")[2] for name in marked):
            raise pytest.UsageError(
                "pytest-xdist does not keep groups together with this version of pytest: "
                "install what constraints.txt names"
            )


@pytest.fixture(autouse=True)
def statements_are_made_anew(request: pytest.FixtureRequest) -> None:
    """A test that changes the code must not be given a statement that was made before."""
    if "monkeypatch" in request.fixturenames:
        request.getfixturevalue("monkeypatch").setattr(
            "sfumato.tables.plan.query_plan.LONGEST_KEPT", -1
        )
