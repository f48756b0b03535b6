"""What `import sfumato` costs and offers."""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import subprocess
import sys
from pathlib import Path

import sfumato

PACKAGE = Path(sfumato.__file__).parent
HEAVY = {
    "scipy",
    "matplotlib",
    "apsw",
    "typer",
    "rich",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "ibis",
    "fastapi",
}


def loaded_by(statement: str) -> set[str]:
    """The top-level modules in memory after the statement, in a fresh interpreter."""
    code = (
        f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] "
        f"for name in sys.modules}})))"
    )
    return set(
        json.loads(
            subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True
            ).stdout
        )
    )


def lazy_table() -> dict[str, str]:
    """Public name to the module it is fetched from at first use: `_LAZY` of the package, and the
    aggregates.
    """
    return {**sfumato._LAZY, **dict.fromkeys(sfumato._aggregate_names(), sfumato._AGGREGATES)}


def stub_names() -> set[str]:
    """The public names that `__init__.pyi` declares, however it declares them."""
    names: set[str] = set()
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        match node:
            case ast.ImportFrom(module=module, names=[ast.alias(name="*")]):
                names |= set(importlib.import_module(f"sfumato.{module}").__all__)
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                names |= {alias.asname or alias.name for alias in aliases}
            case (
                ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                names.add(name)
    return {name for name in names if not name.startswith("_") and name != "annotations"}


def test_import_is_light() -> None:
    assert not loaded_by("import sfumato") & HEAVY


def test_the_probe_sees_a_heavy_import() -> None:
    assert "typer" in loaded_by("import sfumato.cli")


def test_star_shadows_no_builtin() -> None:
    namespace: dict[str, object] = {}
    exec("from sfumato import *", namespace)
    assert not {name for name in namespace if hasattr(builtins, name) and not name.startswith("__")}


def test_lazy_names_are_typed_and_typed_names_exist() -> None:
    lazy = set(lazy_table())
    eager = {name for name in vars(sfumato) if not name.startswith("_") and name not in lazy}
    typed = stub_names()
    assert lazy - typed == set(), "without a type in __init__.pyi"
    assert {
        name for name in typed - lazy if name not in eager and not (PACKAGE / name).is_dir()
    } == set(), "typed, but not to be had"


def test_every_lazy_name_can_be_fetched() -> None:
    for name in lazy_table():
        assert getattr(sfumato, name) is not None
        assert name in dir(sfumato)


def test_public_functions_do_not_share_a_name_with_a_module() -> None:
    modules = {
        path.stem
        for path in PACKAGE.iterdir()
        if (path.is_dir() or path.suffix == ".py") and not path.stem.startswith("_")
    }
    for name in set(lazy_table()) & modules:
        assert getattr(sfumato, name) is importlib.import_module(f"sfumato.{name}")


def test_the_stub_names_the_module_of_a_function_with_the_same_name() -> None:
    """Type checkers take `from .session import protect` for the module `session.protect`."""
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            home = PACKAGE.joinpath(*node.module.split("."))
            assert [a.name for a in node.names if (home / f"{a.name}.py").exists()] == []


def session_imports() -> dict[str, set[str]]:
    """The modules of the session that each of them imports, also lazily or for types only."""
    modules = {path.stem: path for path in (PACKAGE / "session").glob("*.py")}
    return {
        stem: {
            name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
            for name in _named_in_session(node)
            if name in modules
        }
        for stem, path in modules.items()
    }


def _named_in_session(node: ast.ImportFrom) -> set[str]:
    module = node.module or ""
    if node.level == 1:
        return {module} if module else {alias.name for alias in node.names}
    inside = module.removeprefix("sfumato.").partition(".")
    return {inside[2] or alias.name for alias in node.names} if inside[0] == "session" else set()


def find_cycle(imports: dict[str, set[str]]) -> set[str]:
    """The modules that import themselves by way of others."""
    reach = {module: set(named) for module, named in imports.items()}
    for middle in reach:
        for module in reach:
            if middle in reach[module]:
                reach[module] |= reach[middle]
    return {module for module, named in reach.items() if module in named}


def test_no_module_of_the_session_imports_itself_by_way_of_others() -> None:
    """The session is a straight pipeline: `questions`, `batches`, `request`, `protected_table`."""
    imports = session_imports()
    assert "table_state" in imports["learning"]
    assert "request" in imports["protected_table"]
    assert find_cycle(imports) == set()
    assert find_cycle({**imports, "table_state": {"learning"}}) == {"table_state", "learning"}
