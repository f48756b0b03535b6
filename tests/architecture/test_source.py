"""Rules of the source that no linter states: where chance comes from, who may perturb, which
contracts grow with the package.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sfumato"
MODULES = sorted(PACKAGE.rglob("*.py"))

SEEDED = {"testing", "samples", "studies", "attacks"}
"""Layers that may use seeded generators: test sources, public data, adversaries."""

PERTURBING = {
    "mechanisms",
    "release",
    "local",
    "functions",
    "auditing",
    "testing",
    "studies",
    "cli",
}
"""Layers that may call `perturb`: the door and what stands for it, and, on public sample data,
studies and the demo.
"""

ENGINE_FREE = {"exact", "storage", "noise", "guarantees", "mechanisms", "ledger"}


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def seeded_names(tree: ast.AST) -> Iterator[str]:
    """Uses of `random` and `numpy.random`, by import or by attribute."""
    numpy = {"numpy"}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                numpy |= {
                    alias.asname for alias in aliases if alias.name == "numpy" and alias.asname
                }
                yield from (
                    alias.name
                    for alias in aliases
                    if alias.name.split(".")[0] == "random" or alias.name.startswith("numpy.random")
                )
            case ast.ImportFrom(module=str(module), level=0, names=aliases):
                if (
                    module.split(".")[0] == "random"
                    or module.startswith("numpy.random")
                    or (module == "numpy" and any(a.name == "random" for a in aliases))
                ):
                    yield module
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="random") if name in numpy:
                yield f"{name}.random"


def perturbs(tree: ast.AST) -> bool:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        isinstance(called, ast.Attribute) and called.attr in ("perturb", "perturb_each", "keep")
        for called in calls
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert layer(path) in SEEDED or not list(seeded_names(tree)), (
        "seeded generators are for public data and adversaries"
    )
    assert layer(path) in PERTURBING or not perturbs(tree), "noise is added in one place"
    assert path.stat().st_size == 0 or ast.get_docstring(tree), "a module says what it is"


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from random import gauss",
        "import numpy.random",
        "import numpy as np\nnp.random.normal()",
        "from numpy import random",
        "from numpy.random import Generator",
    ],
)
def test_seeded_generators_are_seen(code: str) -> None:
    assert list(seeded_names(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import secrets",
        "from os import urandom",
        "self.random = 1",
        "import numpy as np\nnp.log(2)",
        "from .random import x",
    ],
)
def test_other_names_are_left_alone(code: str) -> None:
    assert not list(seeded_names(ast.parse(code)))


def test_perturbing_is_seen() -> None:
    assert perturbs(ast.parse("m.perturb(4)"))
    assert not perturbs(ast.parse("def perturb(self): ..."))


def test_contracts_name_every_layer_that_exists() -> None:
    """import-linter refuses to name a package before it exists, so the lists have to grow with the
    source.
    """
    contracts = {
        c["id"]: c
        for c in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
            "contracts"
        ]
    }
    built = {layer(path) for path in MODULES}
    assert {
        m.removeprefix("sfumato.") for m in contracts["no-engine"]["source_modules"]
    } == ENGINE_FREE & built
    optional = {
        part.strip("() ")
        for line in contracts["layers"]["layers"]
        for part in line.split("|")
        if "(" in part
    }
    assert not optional & built, "built: take the parentheses away"
