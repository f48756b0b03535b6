"""The tables of the documentation are those of the source."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path

import sfumato as sf
from sfumato.guarantees.conversions import ARROWS
from sfumato.guarantees.meaning.literature import LITERATURE, RULES
from sfumato.guarantees.meaning.promise_meaning import Meaning
from sfumato.guarantees.meaning.pure_and_renyi import COMPARISON

DOCS = Path(__file__).parents[2] / "docs"


def table(page: str, first: str) -> list[tuple[str, ...]]:
    """The rows below the header that begins with `first`; a bar written \\| belongs to its cell."""
    _, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(f"\n| {first} |")
    assert rest, f"no such table in {page}"
    lines = rest.split("\n")[2:]
    rows = takewhile(lambda line: line.startswith("|"), lines)
    return [
        tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1])
        for row in rows
    ]


def test_arrows() -> None:
    assert table("reference/guarantees/index.md", "From") == [
        (arrow.start.__name__, arrow.end.__name__, arrow.theorem) for arrow in ARROWS
    ]


def test_comparison() -> None:
    assert table("reference/guarantees/renyi.md", "About") == [
        (row.about, row.pure, row.renyi) for row in COMPARISON
    ]


def test_literature() -> None:
    def shown(epsilons: tuple[str, ...]) -> str:
        return ", ".join(epsilons) if epsilons[0].startswith(("ln", "<")) else " … ".join(epsilons)

    assert table("guides/choosing/epsilon-and-delta.md", "Authors") == [
        (row.authors, shown(row.epsilons), row.application) for row in LITERATURE
    ]


def test_rules() -> None:
    assert table("guides/choosing/epsilon-and-delta.md", "One hears") == [
        (rule.claim, rule.fact) for rule in RULES
    ]


def test_the_meaning_that_is_printed_is_the_meaning() -> None:
    page = re.sub(r"\s+", " ", (DOCS / "guides/choosing/meaning.md").read_text(encoding="utf-8"))
    for sentence in sf.Pure(1, relation="replace").meaning(prior=0.5).sentences():
        assert sentence in page


def test_every_statement_is_in_the_table_of_what_follows() -> None:
    listed = " ".join(row[0] for row in table("guides/choosing/meaning.md", "Statement"))
    fields = set(Meaning.__dataclass_fields__) - {"guarantee", "prior", "missing", "outside"}
    assert {name for name in fields if f"`{name}`" not in listed} == set()
