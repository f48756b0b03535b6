"""Settings of the whole suite."""

from __future__ import annotations

import gc
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

SECONDS: dict[str, float] = json.loads(
    Path(__file__).with_name("durations.json").read_text(encoding="utf-8")
)
"""How long each test file took when `make durations` ran last."""

# A shared machine is slow at times; that says nothing about the code. Failures print what
# reproduces them.
settings.register_profile("sfumato", deadline=None, print_blob=True)
settings.load_profile("sfumato")

# Collecting makes millions of objects that stay: looking for garbage among them took 40 % of its
# time. `pytest_collection_finish` turns the collector on again.
gc.disable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """`-n auto` is one process more than there are processors: tests of the service, of the browser
    and of Spark wait for others most of the time. xdist reads the variable by itself.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files, the longest first. What a module makes once (a table, a parsed tree) is
    then made in one process, and no long file is left for the end.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    seconds: dict[str, float] = {}

    class FileScheduling(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            scope: str = super()._split_scope(nodeid)
            return scope.partition("::")[0]

        def _assign_work_unit(self, node: Any) -> None:
            for scope in self.workqueue.keys() - seconds:
                files = {nodeid.partition("::")[0] for nodeid in self.workqueue[scope]}
                seconds[scope] = sum(SECONDS.get(file, 1.0) for file in files)
            longest = max(self.workqueue, key=lambda scope: seconds[scope])
            self.workqueue.move_to_end(longest, last=False)
            super()._assign_work_unit(node)

    return FileScheduling(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported stays: the garbage collector need not look through all of it again and
    again.
    """
    _grouped(session)
    gc.collect()
    gc.freeze()
    gc.enable()


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
