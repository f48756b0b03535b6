"""Each law and each mechanism is one module, one test and one proof note of the same stem."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MARKS = {"noise": "*Law*", "mechanisms": "*Promise*"}
"""Package to the labelled line of the docstring that makes a module a law or a mechanism."""

FOUND = [
    (package, path)
    for package, mark in MARKS.items()
    for path in sorted((ROOT / "src" / "sfumato" / package).rglob("*.py"))
    if mark in (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
]


@pytest.mark.parametrize(
    ("package", "path"), FOUND, ids=lambda value: getattr(value, "stem", value)
)
def test_has_test_and_proof(package: str, path: Path) -> None:
    assert (ROOT / "tests" / package / f"test_{path.stem}.py").exists()
    note = path.stem.removesuffix("_noise").replace("_", "-")
    assert (ROOT / "docs" / "proofs" / f"{note}.md").exists()


@pytest.mark.parametrize(
    ("package", "stem"),
    [
        ("noise", "geometric"),
        ("noise", "rounded_normal"),
        ("mechanisms", "laplace"),
        ("mechanisms", "gaussian"),
    ],
)
def test_the_marks_are_found(package: str, stem: str) -> None:
    assert (package, stem) in {(package, path.stem) for package, path in FOUND}


def test_every_proof_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for note in (ROOT / "docs" / "proofs").glob("*.md"):
        assert f"proofs/{note.name}" in navigation
