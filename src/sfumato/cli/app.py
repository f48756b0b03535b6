"""The commands, and how each way of ending looks from a shell: 0 done, 1 refused, 2 wrong usage, 3 failed."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated

import typer

from ..errors import Failed, Refused
from .refusal import show

REFUSED, USAGE, FAILED = 1, 2, 3

app = typer.Typer(
    name="sfumato",
    help="Differential privacy with exact noise.",
    epilog="Exit codes: 0 done, 1 refused, 2 wrong usage, 3 failed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def commands() -> None:
    """Differential privacy with exact noise."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"sfumato {version_of('sfumato')}")


@app.command(epilog="Examples:  sfumato demo  ·  sfumato demo --epsilon 1/3 --out pictures")
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Directory for the picture; made if missing.", show_default="here")] = Path(),
    epsilon: Annotated[
        list[str] | None, typer.Option(metavar="NUMBER", help="Privacy loss of one answer, such as 0.5 or 1/3; may be repeated.", show_default="0.1, 0.5, 2")
    ] = None,
) -> None:
    """Tell a small true story: ten students, one question, and what the answer gives away."""
    from .demo import EPSILONS, tell

    tell(epsilons=tuple(epsilon or EPSILONS), out=out)


@app.command(
    epilog="Examples:  sfumato budget visits.ledger  ·  sfumato budget visits.ledger --history  ·  sfumato budget visits.ledger --csv > visits.csv  ·  "
    'sfumato budget visits.ledger --verify --head "$(cat visits.head)"'
)
def budget(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The book. It is only looked at: nothing is made and nothing is changed.", show_default=False)],
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="One dataset of the book.", show_default="all")] = None,
    history: Annotated[bool, typer.Option("--history", help="Every entry, oldest first.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Everything about one dataset as JSON, numbers exact.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="The entries of one dataset as CSV.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check the whole book against itself; refused (exit code 1) where it does not hold.")] = False,
    head: Annotated[str | None, typer.Option(metavar="LINE", help="With --verify: the last known head, kept elsewhere.", show_default=False)] = None,
) -> None:
    """Print what is promised, what was spent on what, and what is left."""
    if as_json and as_csv:
        raise typer.BadParameter("one of --json and --csv")
    if as_csv and verify:
        raise typer.BadParameter("--verify has no place in CSV; --json has one")
    if head is not None and not verify:
        raise typer.BadParameter("--head goes with --verify")
    from .budget import Asked, tell

    form = "json" if as_json else "csv" if as_csv else "text"
    tell(path, Asked(dataset=dataset, history=history, form=form, verify=verify, head=head))


def main() -> None:
    """Run the command line. A user's mistake never shows a traceback, and neither does a failure: its text could be about a person."""
    try:
        app()
    except Refused as refusal:
        show(refusal)
        sys.exit(REFUSED)
    except Exception:
        if os.environ.get("SFUMATO_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        print(Failed.TEXT, file=sys.stderr)  # noqa: T201
        sys.exit(FAILED)
