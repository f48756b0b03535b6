"""Nothing that is tracked knows the machine it was written on."""

from __future__ import annotations

import re
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

import sfumato

ROOT = Path(__file__).parents[2]

# In two parts each, so that this file passes its own test.
MACHINE = re.compile(
    "|".join(
        re.escape("/" + name) + r"/\w" for name in ("home", "root", "work", "Users", "mnt", "tmp")
    )
    + r"|[A-Z]:\\Users|file:"
    + "//"
)
PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.+!]+")


def tracked() -> list[Path]:
    """Files that git tracks, or would once they are added."""
    command = [
        "git",
        "-C",
        str(ROOT),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8")


def test_no_machine_paths() -> None:
    assert {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if (match := MACHINE.search(text_of(path)))
    } == set()


@pytest.mark.parametrize("name", ["home", "root", "work"])
def test_a_machine_path_is_seen(name: str) -> None:
    assert MACHINE.search("see /" + name + "/somebody/sfumato")
    assert not MACHINE.search(f"a frame{name}/x and {name}/x")


def test_constraints_are_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines, key=str.lower)
    assert [line for line in lines if not PINNED.fullmatch(line)] == []


def test_one_version_everywhere() -> None:
    assert f"version: {sfumato.__version__}\n" in (ROOT / "CITATION.cff").read_text(
        encoding="utf-8"
    )
    assert f"\n## [{sfumato.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert metadata.version("sfumato") == sfumato.__version__
