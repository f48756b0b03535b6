"""What is foreign is not there; what is there may be for another role."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.server.curator import Curator
from sfumato.server.problems import ROLE, UNKNOWN, Problem, Stopped
from sfumato.server.roles import ALL, OWNER, Asker

from .service import service

ADA = Asker("ada", "analyst", frozenset({"visits", "gone"}), 0)


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    found = Curator(service(tmp_path_factory.mktemp("curator")).config)
    yield found
    found.close()


@pytest.mark.parametrize(
    ("name", "roles", "problem"),
    [("clinic", ALL, UNKNOWN), ("clinic", OWNER, UNKNOWN), ("nothing", OWNER, UNKNOWN), ("gone", ALL, UNKNOWN), ("visits", OWNER, ROLE)],
)
def test_what_is_not_for_a_token(curator: Curator, name: str, roles: frozenset[str], problem: Problem) -> None:
    with pytest.raises(Stopped) as caught:
        curator.dataset(ADA, name, roles)
    assert caught.value.problem is problem


def test_what_is(curator: Curator) -> None:
    assert curator.dataset(ADA, "visits", ALL) is curator.served["visits"]


def test_a_dataset_that_cannot_be_opened_stops_the_service(tmp_path: Path) -> None:
    config = service(tmp_path).config
    broken = replace(config.datasets["clinic"], source=str(tmp_path / "nowhere.parquet"))
    with pytest.raises(Refused):
        Curator(replace(config, datasets={**config.datasets, "clinic": broken}))
