"""With the core alone: what it brings works, and what needs more says in one line what to install.
The wheel is built and tried in a fresh environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from sfumato.errors import EXTRAS

ROOT = Path(__file__).parents[2]
MODULES = tuple(module for modules in EXTRAS.values() for module in modules)

BLOCKED = f"""
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MODULES!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Without())
"""

CORE = """
import sfumato as sf
from sfumato import mechanisms as mech
m = mech.Laplace(sensitivity=1, epsilon=0.5)
assert isinstance(m.perturb(42), int)
assert str(10 * m.promise) == "Pure(5)"
assert sf.compose([(m, 10)]).epsilon(1e-6) < 5
book = sf.Ledger.open(budget=sf.Pure(1), dataset="d", unit="u", relation="add-remove")
book.charge(m)
assert book.remaining.epsilon() == 0.5
book.close()
o = sf.local.Direct(epsilon=1, categories=["a", "b"])
assert o.estimate(o.perturb(["a", "b", "a"])).reports == 3
total = sf.privatize(sum, [1, 2, 3], epsilon=1, sensitivity=3, relation="replace")
assert total.promise == sf.Pure(1, relation="replace")
assert sf.audit(m, 0, 1, samples=2000).verdict == "holds"
"""

HINTS = {
    "sf.protect('t.csv', budget=1)": "sfumato[tables]",
    (
        "sf.Ledger.open('postgresql://localhost/x', budget=sf.Pure(1), dataset='d', "
        "unit='u', relation='add-remove')"
    ): "sfumato[postgres]",
    "sf.attacks.uniqueness({'a': [1, 2]}, ['a'])": "sfumato[tables]",
    "sf.samples.visits()": "sfumato[tables]",
    "sf.samples.people()": "sfumato[tables]",
    "sf.connect('http://localhost:1', 'sft_x')": "sfumato[",
    "__import__('sfumato.plots', fromlist=['graphs']).graphs([], title='')": "sfumato[plots]",
}
"""What needs an extra, and the extra."""

COMMANDS = {
    ("query", "t.csv", "SELECT COUNT(*) AS n FROM t", "--epsilon", "1"): "sfumato[tables]",
    ("demo", "--out", "demo"): "sfumato[tables",
    ("serve", "sfumato.toml"): "sfumato[",
    ("token", "sfumato.toml", "--name", "ada", "--role", "analyst"): "sfumato[",
    ("risk", "t.csv", "--columns", "x"): "sfumato[tables]",
}


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )


def test_the_core_works_alone(tmp_path: Path) -> None:
    done = python(CORE, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    code = "import sfumato as sf\n"
    for statement in HINTS:
        code += f"try:\n    {statement}\nexcept sf.Refused as refusal:\n    "
        code += f"print({statement!r}, refusal.rewrite, sep='\\t')\n"
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    rewrites = dict(line.split("\t") for line in done.stdout.splitlines())
    assert list(rewrites) == list(HINTS)
    for statement, extra in HINTS.items():
        assert extra in rewrites[statement]


def test_a_command_names_it_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    (tmp_path / "sfumato.toml").write_text('[datasets.t]\nsource = "t.csv"\nbudget = 1\n')
    code = "from sfumato.cli import main\n"
    for arguments in COMMANDS:
        code += f"sys.argv = ['sfumato', *{arguments!r}]\ntry:\n    main()\n"
        code += "except SystemExit as end:\n    print(end.code, 'end', file=sys.stderr)\n"
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    *refusals, rest = done.stderr.split("1 end\n")
    assert rest == ""
    for refusal, extra in zip(refusals, COMMANDS.values(), strict=True):
        assert extra in refusal.splitlines()[-1]


def test_every_extra_is_blocked_here() -> None:
    """The list above is complete: what the core needs is all that is left."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {
        name
        for extra in ("tables", "spark", "postgres", "server", "plots")
        for name in declared["optional-dependencies"][extra]
    }
    modules = {"ibis-framework": "ibis", "argon2-cffi": "argon2"}
    plain = {
        name.partition("[")[0].partition("=")[0].partition(">")[0].partition("<")[0]
        for name in brought
    }
    assert {modules.get(name, name) for name in plain} <= set(MODULES)


@pytest.mark.slow
def test_the_wheel_works_in_a_fresh_environment(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(build, check=True, env=os.environ)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 2_500_000  # code alone: no data, no pictures of the docs
    names = zipfile.ZipFile(wheel).namelist()
    assert "sfumato/py.typed" in names
    assert "sfumato/server/static/index.html" in names
    assert not [name for name in names if name.startswith(("tests", "docs", "bench"))]
    venv.create(tmp_path / "fresh", with_pip=True)
    fresh = tmp_path / "fresh" / "bin"
    install = [
        fresh / "python",
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "-c",
        ROOT / "constraints.txt",
        wheel,
    ]
    subprocess.run(install, check=True)
    subprocess.run([fresh / "python", "-c", CORE], check=True, cwd=tmp_path)
    version = subprocess.run(
        [fresh / "sfumato", "version"], check=True, capture_output=True, text=True
    )
    assert version.stdout.startswith("sfumato ")
