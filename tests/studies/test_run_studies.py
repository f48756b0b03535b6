"""Running studies: which, how often, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.studies import reproduce, run


def test_chosen_studies_run_in_the_order_of_the_sources(tmp_path: Path) -> None:
    begun: list[str] = []
    page, done = reproduce(
        tmp_path,
        ["auction", "table-3.2"],
        repetitions=5,
        seed=1,
        begin=lambda study: begun.append(study.name),
    )
    assert begun == [study.name for study, _ in done] == ["table-3.2", "auction"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("repetitions", [0, 2, True, 2.5])
def test_too_few_repetitions_are_refused(repetitions: int) -> None:
    with pytest.raises(Refused) as refusal:
        run(["table-3.2"], repetitions=repetitions)
    assert refusal.value.code == "studies.repetitions"


def test_an_unknown_study_is_refused_before_a_directory_is_made(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        reproduce(tmp_path / "new", ["nothing"])
    assert not (tmp_path / "new").exists()
