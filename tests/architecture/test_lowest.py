"""The lowest versions that are declared are those that `make lowest` installs; and lock files say
names and versions, and no addresses.
"""

from __future__ import annotations

import re

import pytest

from ..lowest import ROOT, lowest


def locked(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert [
        line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)
    ] == []
    return {
        re.sub(r"[-_.]+", "-", package).lower(): version
        for package, _, version in (line.partition("==") for line in lines)
    }


def padded(version: str) -> tuple[int, ...]:
    """1.5 is 1.5.0."""
    parts = [int(part) for part in version.split(".")]
    return (*parts, *(0,) * (4 - len(parts)))


@pytest.mark.parametrize("package", lowest())
def test_the_lowest_version_is_the_one_that_is_tested(package: str) -> None:
    assert padded(locked("constraints-lowest.txt")[package]) == padded(lowest()[package])


@pytest.mark.parametrize("package", lowest())
def test_the_version_of_the_suite_is_not_below(package: str) -> None:
    assert padded(locked("constraints.txt")[package]) >= padded(lowest()[package])


def test_the_tests_that_are_run_are_there() -> None:
    text = (
        (ROOT / "Makefile")
        .read_text(encoding="utf-8")
        .partition("REACHING :=")[2]
        .partition("\n\n")[0]
    )
    listed = [
        f"{folder}{stem}"
        for folder, stems in re.findall(r"addprefix (\S+),([^)]+)\)", text)
        for stem in stems.split()
    ]
    listed += re.findall(r"(?<!addprefix )tests/[a-z_/]+(?:\.py)?", text)
    assert len(listed) > 20
    assert [
        path for path in listed if not (ROOT / path).exists() and not path.endswith("test_")
    ] == []
