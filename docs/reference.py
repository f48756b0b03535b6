"""Write the files that come from the code: docs/reference/cli.md and docs/reference/api.md, the
parts between marks of docs/reference/sql.md and docs/project/architecture.md, the tables of
docs/reference/expressions.md, the names of tests in docs/why/errata.md, and the methods of
expressions for type checkers and editors in src/sfumato/tables/expr/methods.pyi.

`python docs/reference.py` writes them; tests compare the files with what it would write.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from reference_sql import cell, sql, table

import sfumato as sf
from sfumato import session
from sfumato.cli.commands import app
from sfumato.tables.expr.expressions import call, col, python_text
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.methods import Methods
from sfumato.tables.expr.scalar_function import MOMENT, TEXT, TIME, TRUTH, Function

DOCS = Path(__file__).parent
RELIED = (
    "This page lists every name that you can import and rely on, from `import sfumato as sf`. "
    "A name that is not on this page may change without notice. "
    "Each name has a docstring with details: `help(sf.protect)`."
)
BEGIN, END = "<!-- docs/reference.py: begin -->", "<!-- docs/reference.py: end -->"


# The shell.


def cli() -> str:
    """The page of the command line."""
    top = typer.main.get_command(app)
    parts = [
        "# The command line\n",
        (
            f"{cell(top.help or '')} {cell(top.epilog or '')} Every command has `--help`, "
            f"with examples.\n"
        ),
        table(
            "Command",
            "What it does",
            rows=[
                (f"[`{' '.join(path)}`](#{'-'.join(path)})", cell(command.help or ""))
                for path, command in _commands(top)
            ],
        ),
        _completion(top),
        *(_command(path, command) for path, command in _commands(top)),
    ]
    return "\n".join(parts)


def _commands(
    group: Any, path: tuple[str, ...] = ("sfumato",)
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in sorted(group.commands.items()):
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))


def _completion(top: Any) -> str:
    if not any("--install-completion" in option.opts for option in top.params):
        return "Shells cannot complete commands yet.\n"
    return (
        "**Completion.** After `sfumato --install-completion`, a new shell (bash, zsh, fish or "
        "PowerShell) completes commands and options with the tab key. "
        "`sfumato --show-completion` prints the lines, so that you can add them yourself.\n"
    )


def _command(path: tuple[str, ...], command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [
        param
        for param in command.params
        if param.param_type_name == "option" and "--help" not in param.opts and not param.hidden
    ]
    usage = " ".join(
        [*path, *(_named(param) if param.required else f"[{_named(param)}]" for param in arguments)]
    )
    if hasattr(command, "commands"):
        usage += " COMMAND"
    parts = [
        f"## {' '.join(path)} {{ #{'-'.join(path)} }}\n",
        f"{cell(command.help or '')}\n",
        f"```sh\n{usage}{' [options]' if options else ''}\n```\n",
    ]
    if arguments:
        parts.append(
            table(
                "Argument",
                "",
                rows=[(f"`{_named(param)}`", cell(param.help or "")) for param in arguments],
            )
        )
    if options:
        parts.append(table("Option", "", "If left out", rows=[_option(param) for param in options]))
    if command.epilog:
        examples = re.sub(r"^Examples?:", "", command.epilog).strip()
        parts.append(
            "Examples:\n\n```sh\n"
            + "\n".join(
                line.strip() if line.strip().startswith("sfumato") else f"# {line.strip()}"
                for line in examples.split("  ·  ")
            )
            + "\n```\n"
        )
    return "\n".join(parts)


def _named(param: Any) -> str:
    return str(param.metavar or param.name.upper()) + (
        "…" if param.nargs != 1 and not str(param.metavar).endswith("…") else ""
    )


def _option(param: Any) -> tuple[str, str, str]:
    name = "/".join([*param.opts, *param.secondary_opts]) + (
        "" if param.is_flag else f" {param.metavar or param.type.name.upper()}"
    )
    shown = param.show_default if isinstance(param.show_default, str) else None
    default = (
        shown
        if shown is not None
        else ""
        if param.default in (None, False, ()) or param.show_default is False
        else str(param.default)
    )
    return (
        f"`{cell(name)}`",
        cell(param.help or ""),
        "required" if param.required else cell(default),
    )


# The library.


def api() -> str:
    """The page of public names."""
    names = [name for name in dir(sf) if not name.startswith("_")]
    modules = {name: value for name in names if inspect.ismodule(value := getattr(sf, name))}
    plain = {name: getattr(sf, name) for name in names if name not in modules}
    classes = {name: value for name, value in plain.items() if inspect.isclass(value)}
    calls = {name: value for name, value in plain.items() if name not in classes}
    handed = {
        "Table": session.Table,
        "Database": session.Database,
        "Answer": sf.answers.Answer,
        "Card": sf.answers.Card,
    }
    parts = [
        "# The public names\n",
        f"{RELIED}\n",
        "## Functions\n",
        table(
            "Name",
            "",
            rows=[_function(f"sf.{name}", value) for name, value in sorted(calls.items())],
        ),
        "## Classes\n",
        *(_class(f"sf.{name}", value) for name, value in sorted(classes.items())),
        "## What calls hand back\n",
        (
            "You do not construct these yourself: `sf.protect` returns a `Table`, or a `Database` "
            "of several tables; a release returns an `Answer`, which has a `Card`.\n"
        ),
        *(_class(name, value) for name, value in handed.items()),
        "## Modules\n",
        *(_module(name, value) for name, value in sorted(modules.items())),
    ]
    return "\n".join(parts)


def _first(value: Any) -> str:
    """The first sentence of its docstring; a record's own signature, which Python writes where
    there is none, says nothing.
    """
    text = cell((inspect.getdoc(value) or "").split("\n\n")[0])
    match = re.match(r".*?[^.][.](?= |$)|.*", text)
    sentence = match[0] if match else ""
    return (
        "" if re.match(r"\w+\(.*\)$", sentence) or sentence.startswith("str(object") else sentence
    )


def _signature(value: Any, *, method: bool = False) -> str:
    """Names of arguments, and which can be left out; types and defaults are in the docstring's
    place, the code.
    """
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return "(…)"
    shown, keyword = [], False
    for parameter in parameters[1:] if method else parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword:
            shown, keyword = [*shown, "*"], True
        keyword = keyword or parameter.kind is parameter.VAR_POSITIONAL
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        shown.append(
            star + parameter.name + ("" if star or parameter.default is parameter.empty else "=…")
        )
    return f"({', '.join(shown)})"


def _function(name: str, value: Any) -> tuple[str, str]:
    return f"`{name}{_signature(value)}`", _first(value)


def _class(name: str, value: type) -> str:
    """What it is, how it is made, and what it has; of a notion, only what not every guarantee
    has.
    """
    notion = issubclass(value, sf.Guarantee) and value is not sf.Guarantee
    ours = {
        key for base in value.__mro__ if base.__module__.startswith("sfumato") for key in vars(base)
    } - (set(dir(sf.Guarantee)) if notion else set())
    rows = []
    for member in sorted(ours):
        member_value = inspect.getattr_static(value, member)
        function = (
            member_value.__func__
            if isinstance(member_value, classmethod | staticmethod)
            else member_value
        )
        if member.startswith("_") or not (
            inspect.isfunction(function) or isinstance(function, property)
        ):
            continue
        shown = (
            member
            if isinstance(function, property)
            else member + _signature(function, method=not isinstance(member_value, staticmethod))
        )
        rows.append((f"`.{shown}`", _first(function)))
    constructor = (
        ""
        if inspect.isabstract(value) or hasattr(value, "open") or not name.startswith("sf.")
        else _signature(value)
    )
    also = " Has all that every [`sf.Guarantee`](#sfguarantee) has." if notion else ""
    return f"### {name}\n\n`{name}{constructor}` · {_first(value)}{also}\n" + (
        ("\n" + table("Member", "", rows=rows)) if rows else ""
    )


def _module(name: str, module: Any) -> str:
    rows = []
    for public in module.__all__:
        value = getattr(module, public)
        rows.append(
            _function(f"sf.{name}.{public}", value)
            if callable(value)
            else (
                f"`sf.{name}.{public}`",
                _first(value) if inspect.ismodule(value) else "a table of constants",
            )
        )
    return f"### sf.{name}\n\n{_first(module)}\n\n" + table("Name", "", rows=rows)


# The house.


def rooms() -> str:
    """Every package and module at the top, in the order of the layers, with what its docstring says
    it is.
    """
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    layers = next(contract for contract in contracts if contract["id"] == "layers")
    names = [[name.strip(" ()") for name in re.split(r"[|:]", layer)] for layer in layers["layers"]]
    built = {
        path.stem
        for path in (DOCS.parent / "src" / "sfumato").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__"}
    layer_names = [[name for name in layer if name in built] for layer in names]
    rows = [
        (
            " · ".join(f"`{name}`" for name in layer),
            " ".join(_first_sentence(name, len(layer)) for name in layer),
        )
        for layer in layer_names
    ]
    outside = [(f"`{name}`", _first_sentence(name)) for name in layers["exhaustive_ignores"]]
    return (
        table("Layer", "", rows=[row for row in rows if row[0]])
        + "\nLarge packages have rooms:\n\n"
        + table("Room", "", rows=_rooms_within())
        + "\nBeside the layers, for tests, examples and the demo:\n\n"
        + table("Package", "", rows=outside)
    )


def _rooms_within() -> list[tuple[str, str]]:
    """Every sub-package, with what its docstring says it is."""
    source = DOCS.parent / "src" / "sfumato"
    inner = sorted(path.parent.relative_to(source) for path in source.glob("*/**/__init__.py"))
    rooms = [path.as_posix() for path in inner if len(path.parts) > 1]
    return [
        (f"`{room}`", _first(import_module(f"sfumato.{room.replace('/', '.')}"))) for room in rooms
    ]


def _first_sentence(name: str, siblings: int = 1) -> str:
    return (f"*{name}* " if siblings > 1 else "") + _first(import_module(f"sfumato.{name}"))


# The functions of expressions.


def expressions() -> str:
    """The page of expressions, with the tables of functions below their marks."""
    text = (DOCS / "reference/expressions.md").read_text(encoding="utf-8")
    for group in dict.fromkeys(function.group for function in FUNCTIONS.values()):
        rows = [
            (f"`{cell(function.name)}`", f"`{cell(_example(function))}`: {cell(function.rule)}")
            for function in FUNCTIONS.values()
            if function.group == group
        ]
        mark = f"<!-- docs/reference.py: {group} -->\n\n"
        listed = table("Function", "Rule", rows=rows)
        text, count = re.subn(rf"{mark}(\|.*\n)+", lambda _, new=mark + listed: new, text, count=1)
        assert count == 1, f"expressions.md has no table of {group}"
    return text


def _example(function: Function) -> str:
    """A call in Python, with columns x, y, z, conditions a, b, texts t, u and dates d, e."""
    letters = {TRUTH: iter("ab"), TEXT: iter("tu"), MOMENT: iter("de"), TIME: iter("de")}
    others = iter("xyz")
    ends = iter((0, 100))
    arguments: list[object] = [
        col(next(letters.get(slot, others)))
        if slot.test is None
        else next(ends)
        if slot.example == "0"
        else ast.literal_eval(slot.example)
        for slot in function.takes
    ]
    text = re.sub(r"sf\.col\('(\w+)'\)", r"\1", python_text(call(function.name, *arguments)))
    return re.sub(r"^\((.*)\)$", r"\1", text).replace("'", '"')


def methods() -> str:
    """The stub of the methods of expressions."""
    lines = [
        '"""Methods and operators of expressions; docs/reference.py writes them."""',
        "\nfrom typing import ClassVar\n\nfrom .nodes import Expr\n\nclass Methods:",
        "    __hash__: ClassVar[None]  # type: ignore[assignment]  # not hashable, as lists",
    ]
    for name, method in vars(Methods).items():
        if inspect.isfunction(method):
            signature = re.sub("(: 'Methods')|'", "", str(inspect.signature(method)))
            note = (
                "  # type: ignore[override]  # an expression"
                if name in ("__eq__", "__ne__")
                else ""
            )
            lines.append(f"    def {name}{signature}: ...{note}")
    return "\n".join(lines) + "\n"


# The errata.


def errata() -> str:
    """The page of errata, each line Test as the index of tests has it, and the counts of the
    introduction.
    """
    index = json.loads(
        (DOCS.parent / "tests" / "vectors" / "index.json").read_text(encoding="utf-8")
    )
    text = (DOCS / "why/errata.md").read_text(encoding="utf-8")
    for number in re.findall(r"^### (E-\d\d) ", text, re.MULTILINE):
        tests = [
            target
            for key in sorted(index)
            if re.fullmatch(rf"{number}[a-z]?", key)
            for target in index[key]
            if target.startswith("tests/")
        ]
        line = ", ".join(f"`{target}`" for target in tests) or "text only"
        text = re.sub(
            rf"(^### {number} .*?^- \*\*Test\*\*: )[^\n]*",
            lambda match, line=line: match[1] + line,
            text,
            count=1,
            flags=re.MULTILINE | re.DOTALL,
        )
    alone = text.count("- **Test**: text only")
    return re.sub(r"unsafe and \d+ are text only", f"unsafe and {alone} are text only", text)


def within(page: str, text: str) -> str:
    """A page with what stands between its two marks."""
    before, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}"


def pages() -> dict[Path, str]:
    """Every file that is written, with what belongs into it."""
    texts = {
        "reference/cli.md": cli(),
        "reference/api.md": api(),
        "reference/sql.md": within("reference/sql.md", sql()),
        "project/architecture.md": within("project/architecture.md", rooms()),
        "why/errata.md": errata(),
        "reference/expressions.md": expressions(),
    }
    stub = DOCS.parent / "src/sfumato/tables/expr/methods.pyi"
    return {stub: methods()} | {DOCS / page: text for page, text in texts.items()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
