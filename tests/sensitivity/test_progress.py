"""A bar that only shows when somebody watches, and only after a second."""

from __future__ import annotations

import pytest

from sfumato.sensitivity import progress
from sfumato.sensitivity.progress import Bar


def test_nobody_watches(capfd: pytest.CaptureFixture[str]) -> None:
    with Bar("steps", total=3, watched=False) as bar:
        for _ in range(3):
            bar.add()
    assert capfd.readouterr() == ("", "")


def test_a_quick_thing_shows_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with Bar("steps", total=3, watched=True) as bar:
        bar.add(3)
    assert capfd.readouterr() == ("", "")


def test_a_slow_thing_shows_on_standard_error(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Bar("sampling", total=3, watched=True) as bar:
        bar.add()
        bar.add(2)
    out, err = capfd.readouterr()
    assert out == ""
    assert "sampling" in err
