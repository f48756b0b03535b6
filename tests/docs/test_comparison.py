"""What the comparison says was measured is what stands in the tables of the benches."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def ratios(law: str, column: int) -> list[float]:
    """A column of the table of draws, for one law."""
    rows = re.findall(rf"^\| {law} \|(.*)\|$", page("project/performance.md"), re.MULTILINE)
    return [
        float(cells[column].replace(",", "")) for row in rows if len(cells := row.split("|")) == 9
    ]


def test_draws_beside_opendp() -> None:
    times = ratios("Laplace", 6) + ratios("Gaussian", 6)
    assert len(times) == 12
    assert f"| {min(times):,.0f} to {max(times):,.0f} times as fast |" in page("why/comparison.md")


def test_draws_beside_numpy() -> None:
    laplace, gaussian = ratios("Laplace", 4), ratios("Gaussian", 4)
    sentence = (
        f"Laplace {min(laplace):.1f} to {max(laplace):.1f} times as fast, Gaussian "
        f"{min(gaussian):.2f} to {max(gaussian):.2f} times"
    )
    assert sentence in page("why/comparison.md")


def test_the_local_model() -> None:
    times = [
        int(row)
        for row in re.findall(
            r"^\| `\w+` \| [\d,]+ × [\d,]+ \|.*\| (\d+) \|$", page("guides/local.md"), re.MULTILINE
        )
    ]
    assert f"{min(times)} to {max(times)} times as fast, by oracle" in page("why/comparison.md")


def test_queries() -> None:
    table = page("project/performance.md")
    faster = {
        match[1]: match[2]
        for match in re.finditer(
            r"^\| (count and sum[^|]*?) \| 10,000,000 \|[^|]*\| OpenDP \|[^|]*\| ([\d.]+) × faster",
            table,
            re.MULTILINE,
        )
    }
    plain, bounded = (
        faster["count and sum by 1,000 public keys"],
        faster["count and sum by 1,000 public keys, a user counts for ≤ 5 rows"],
    )
    assert f"| {plain} times as fast |" in page("why/comparison.md")
    assert f"| {float(bounded):.1f} times as fast, a fifth of the memory" in page(
        "why/comparison.md"
    )


def test_the_forerunners_are_named() -> None:
    assert {
        name
        for name in ("PINQ", "Census of 2020", "Microsoft and Harvard's IQSS")
        if name not in page("why/comparison.md")
    } == set()
