"""The pictures in the repository are those that `docs/pictures.py` draws, and every one of them is
shown somewhere.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"

pytestmark = pytest.mark.xdist_group("pictures")  # drawn once


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawn(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return script.write(tmp_path_factory.mktemp("images"))


def pixels(file: Path) -> np.ndarray:
    from matplotlib.image import imread

    return imread(file)


def test_the_stored_pictures_are_current(drawn: list[Path]) -> None:
    assert {file.name for file in drawn} == {file.name for file in IMAGES.iterdir()}, (
        "run docs/pictures.py"
    )
    for file in drawn:
        here, stored = pixels(file), pixels(IMAGES / file.name)
        assert here.shape == stored.shape
        assert np.abs(here - stored).mean() < 1e-3, (
            f"{file.name} is out of date: run docs/pictures.py"
        )  # fonts may be rendered a hair differently


def test_another_law_would_be_seen(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = script.mech.Laplace
    monkeypatch.setattr(
        script.mech,
        "Laplace",
        lambda *, sensitivity, epsilon: true(sensitivity=sensitivity, epsilon=epsilon / 2),
    )
    script.neighbours().savefig(tmp_path / "wrong.png")
    assert np.abs(pixels(tmp_path / "wrong.png") - pixels(IMAGES / "neighbours.png")).mean() > 1e-3


def test_drawing_again_gives_the_same_bytes(
    script: ModuleType, drawn: list[Path], tmp_path: Path
) -> None:
    script.laplace().savefig(tmp_path / "laplace.png", metadata={"Software": None})
    assert (tmp_path / "laplace.png").read_bytes() == next(
        file for file in drawn if file.name == "laplace.png"
    ).read_bytes()


def test_every_picture_is_shown() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    for file in IMAGES.iterdir():
        assert re.search(rf"\]\((\.\./)*images/{file.name}\)", pages)
