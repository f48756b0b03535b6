"""A refusal in a terminal is its own text, coloured by the word a line begins with."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from sfumato.cli.refusal import CommandLine, ReportFailed, render, rewrite_as_command
from sfumato.errors import Refused

RAW_ROWS = Refused(
    "sql.raw-rows",
    (
        "SELECT name, age FROM visits\n             ^^^^ a raw value of a "
        "protected table cannot be published"
    ),
    "only aggregates over units are answered",
    "SELECT age, COUNT(*) FROM visits GROUP BY age",
)


def printed(refusal: Refused, *, colour: bool) -> str:
    console = Console(
        file=StringIO(),
        force_terminal=colour,
        color_system="standard" if colour else None,
        width=40,
        highlight=False,
    )
    console.print(render(refusal), soft_wrap=True)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_plain_text_is_not_wrapped_or_changed() -> None:
    assert printed(RAW_ROWS, colour=False) == f"{RAW_ROWS}\n"


def test_without_a_rewrite_there_is_no_try() -> None:
    assert (
        printed(Refused("a.b", "here", "because"), colour=False)
        == "refused [a.b]  here\nwhy   because\n"
    )


def test_square_brackets_are_text_not_markup() -> None:
    assert "[bold]x[/]" in printed(Refused("a.b", "[bold]x[/]", "because"), colour=False)


@pytest.mark.parametrize("word", ["refused", "why", "try", "^^^^"])
def test_the_first_words_carry_colour(word: str) -> None:
    assert f"m{word}\x1b[0m" in printed(RAW_ROWS, colour=True).replace(" " * 19, "")


def test_control_characters_in_what_the_user_wrote_are_escaped() -> None:
    text = printed(Refused("a.b", "SELECT '\x1b[2J\r'", "because"), colour=False)
    assert "\x1b" not in text
    assert r"\x1b[2J\r" in text


@pytest.mark.parametrize(
    ("code", "rewrite", "suggested"),
    [
        ("table.path", 'protect("visits.parquet", …)', "sfumato risk x.csv"),
        ("table.path", "a local copy", "a local copy"),
        ("sql.raw-rows", "protect(…)", "protect(…)"),
    ],
)
def test_in_a_shell_a_command_is_suggested(code: str, rewrite: str, suggested: str) -> None:
    with pytest.raises(Refused) as refused, rewrite_as_command("sfumato risk x.csv"):
        raise Refused(code, "protect(x.arrow, …)", "why", rewrite)
    assert refused.value.rewrite == suggested


COMMAND = CommandLine(
    ("sfumato", "query", "my orders.csv"),
    "SELECT AVG(amount) FROM orders",
    (("--types", "amount=string"), ("--types", "age=int64"), ("--epsilon", "1")),
)


def test_a_rewrite_in_sql_becomes_the_command() -> None:
    with pytest.raises(Refused) as refused, rewrite_as_command("", COMMAND):
        raise Refused("sql.star", "*", "why", "SELECT COUNT(*) AS n FROM orders")
    assert refused.value.rewrite == (
        "sfumato query 'my orders.csv' 'SELECT COUNT(*) AS n FROM orders' "
        "--types amount=string --types age=int64 --epsilon 1"
    )


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("--types amount=float", "--types age=int64 --epsilon 1 --types amount=float"),
        ("--epsilon 0.1", "--types amount=string --types age=int64 --epsilon 0.1"),
        ("--max-rows 5", "--types amount=string --types age=int64 --epsilon 1 --max-rows 5"),
    ],
)
def test_an_option_takes_the_place_of_the_same_option(form: str, options: str) -> None:
    refusal = Refused("a.b", "x", "why", "types={'amount': 'float'}", forms={"shell": form})
    with pytest.raises(Refused) as refused, rewrite_as_command("", COMMAND):
        raise refusal
    assert refused.value.rewrite == (
        f"sfumato query 'my orders.csv' 'SELECT AVG(amount) FROM orders' {options}"
    )


def test_what_breaks_without_a_charge_speaks_of_none() -> None:
    assert str(ReportFailed()) == ReportFailed.TEXT
    assert "stays charged" not in ReportFailed.TEXT
