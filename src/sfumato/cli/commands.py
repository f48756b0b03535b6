"""The commands, and how each way of ending looks from a shell: 0 done, 1 refused, 2 wrong usage, 3
failed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..errors import Failed, Refused, missing
from .local_command import local
from .refusal import Unmade, show, typed
from .terminal import form_of

REFUSED, FAILED = 1, 3  # wrong usage is 2, and typer's own

app = typer.Typer(
    name="sfumato",
    help="Differential privacy with exact noise.",
    epilog="Exit codes: 0 done, 1 refused, 2 wrong usage, 3 failed.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.add_typer(local, name="local")


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"sfumato {__version__}")


@app.command(epilog="Examples:  sfumato demo  ·  sfumato demo --out pictures")
def demo(
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Directory for the page; made if missing.", show_default="here"
        ),
    ] = Path(),
) -> None:
    """Tell the whole story on sample data: who is unique, an attack and what noise leaves of it,
    answers, a budget that ends, an audit.
    """
    from .demo_command import tell

    tell(out=out)


@app.command(
    epilog="Examples:  sfumato budget visits.ledger  ·  sfumato budget visits.ledger --history  "
    "·  sfumato budget visits.ledger --csv > visits.csv  ·  "
    'sfumato budget visits.ledger --verify --head "$(cat visits.head)"'
)
def budget(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="The book: a file, or postgresql://… It is only looked at: nothing is made "
            "or changed.",
            show_default=False,
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="One dataset of the book.", show_default="all"),
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Every entry, oldest first.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Everything about one dataset as JSON, numbers exact.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="The entries of one dataset as CSV.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Check the whole book against itself; refused (exit code 1) where it does "
            "not hold.",
        ),
    ] = False,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="With --verify: the last known head, kept elsewhere.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print what is promised, what was spent on what, and what is left."""
    form = form_of(as_json=as_json, as_csv=as_csv)
    if as_csv and verify:
        raise typer.BadParameter("--verify has no place in CSV; --json has one")
    if head is not None and not verify:
        raise typer.BadParameter("--head goes with --verify")
    from .budget_command import Asked, tell

    tell(path, Asked(dataset=dataset, history=history, form=form, verify=verify, head=head))


@app.command(
    epilog="Examples:  sfumato query visits.parquet 'SELECT city, COUNT(*) AS n FROM visits "
    "GROUP BY city' --unit user_id --max-rows 5 --keys city=Roma,Bari "
    "--epsilon 0.3  ·  sfumato query visits.parquet 'SELECT AVG(spend) AS m FROM visits' "
    "--declaration visits.toml --epsilon 0.1 --budget 1 "
    "--ledger visits.ledger  ·  with --plan nothing is read"
)
def query(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A Parquet, CSV or DuckDB file. Its name without the ending is the table's.",
            show_default=False,
        ),
    ],
    text: Annotated[
        str, typer.Argument(metavar="SELECT", help="The question.", show_default=False)
    ],
    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Privacy loss of the answer, such as 0.3 or 1/3.",
            show_default=False,
        ),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER|COLUMN=NUMBER",
            help="Instead of --epsilon: as exact as this, at 95 %; may be repeated.",
            show_default=False,
        ),
    ] = None,
    group_size: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="With --within of a mean: the rows of a group.",
            show_default=False,
        ),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Whom a row is about; may be repeated.",
            show_default="each row a person",
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Of the answer.",
            show_default="a thousandth of the budget's, or 1e-9",
        ),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LOW:HIGH", help="Between which ends a column is taken; may be repeated."
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=A,B", help="Public keys of a column; may be repeated."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=TYPE", help="What to read a column as; may be repeated."),
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="How many rows a unit counts for.", show_default=False),
    ] = None,
    max_groups: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="In how many groups.", show_default="--max-rows"),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The table's name.", show_default="the file's"),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="RELATION", help="add-remove or replace.", show_default="add-remove"),
    ] = None,
    declaration: Annotated[
        Path | None, typer.Option(metavar="TOML", help="All of this in a file.", show_default=False)
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="ε of the whole, with a δ of 1e-6.",
            show_default="what this costs",
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Where the budget is kept: a file or postgresql://…",
            show_default="nowhere",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The answer as JSON.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="The answer as CSV, with the ends of its intervals.")
    ] = False,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Only what it would cost and how exact it would be: no data is read."
        ),
    ] = False,
) -> None:
    """Ask one question about a protected file, in SQL."""
    form = form_of(as_json=as_json, as_csv=as_csv)
    if declaration is not None and any(
        (unit, bounds, keys, types, max_rows, max_groups, name, relation)
    ):
        raise typer.BadParameter(
            "--declaration stands alone: it says all that the other options could"
        )
    if (epsilon is None) == (not within):
        raise typer.BadParameter("one of --epsilon and --within")
    from .query_command import Asked, accuracy, declared, tell

    said = declared(
        unit=unit or (), bounds=bounds or (), keys=keys or (), types=types or (), name=name, max_rows=max_rows, max_groups=max_groups, relation=relation,
        declaration=declaration,
    )  # fmt: skip
    exact = accuracy(within or ())
    asked = Asked(
        text=text,
        epsilon=epsilon,
        within=exact,
        group_size=group_size,
        delta=delta,
        declared=said,
        budget=budget,
        ledger=ledger,
        form=form,
        plan=plan,
    )
    with typed(
        "sfumato query visits.parquet 'SELECT COUNT(*) AS n FROM visits' --unit user_id "
        "--max-rows 5 --epsilon 0.3"
    ):
        tell(path, asked)


@app.command(
    epilog="Examples:  sfumato reproduce  ·  sfumato reproduce --out report  ·  sfumato "
    "reproduce --only table-4.9 --only figure-4.3 --repetitions 20"
)
def reproduce(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory for the report; made if missing.")
    ] = Path("report"),
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STUDY",
            help="One study, such as table-4.4; may be repeated.",
            show_default="all",
        ),
    ] = None,
    repetitions: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=3, help="Runs of each experiment; long ones have fewer."
        ),
    ] = 200,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, help="Of the public data. Noise has none.")
    ] = 2022,
) -> None:
    """Run every table and figure of the sources again, and write a report: printed numbers beside
    ours, and the right way beside both.
    """
    from .reproduce_command import tell

    tell(out, only or (), repetitions=repetitions, seed=seed)


@app.command(
    epilog="Examples:  sfumato risk people.csv --columns sex,age,city  ·  sfumato risk "
    "people.csv --columns sex,age,city --sensitive disease --out risk.html"
)
def risk(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A Parquet, CSV or DuckDB file, a row for each person.",
            show_default=False,
        ),
    ],
    columns: Annotated[
        list[str],
        typer.Option(
            metavar="A,B",
            help="What an attacker may know of a person; may be repeated.",
            show_default=False,
        ),
    ],
    sensitive: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What nobody is to learn.", show_default=False),
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Numbers that noise is made for; may be repeated.",
            show_default="0.1, 0.5, 1, 2, 5",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="HTML", help="The page.")] = Path("risk.html"),
) -> None:
    """Show how exposed the people of a file are, and what noise would buy them: one page for a
    committee. It is about the raw data, and not private itself.
    """
    from .risk_command import tell

    tell(path, columns, sensitive, epsilon or (), out)


@app.command(epilog="Examples:  sfumato serve --demo  ·  sfumato serve sfumato.toml")
def serve(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="TOML",
            help="What is served: datasets, budgets, ledger, deadlines.",
            show_default=False,
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve the sample data, with a token for each role.")
    ] = False,
    host: Annotated[str, typer.Option(metavar="HOST", help="With --demo.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", help="With --demo.", min=1, max=65535)
    ] = 8000,
) -> None:
    """Put a wall between analysts and the data: an HTTP API and a web page, through which only
    answers pass.
    """
    if demo == (path is not None):
        raise typer.BadParameter("a TOML file, or --demo")
    from . import serve_command as served

    if path is None:
        served.demo(host, port)
    else:
        served.tell(path)


@app.command(
    epilog="Examples:  sfumato token sfumato.toml --name ada --role analyst --dataset visits "
    "--days 30  ·  sfumato token sfumato.toml  ·  "
    "sfumato token sfumato.toml --revoke ID"
)
def token(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="TOML", help="The configuration of the service.", show_default=False
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Make one, for somebody of this name.", show_default=False
        ),
    ] = None,
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="owner, analyst or auditor.")
    ] = "analyst",
    dataset: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="What it may see; may be repeated.", show_default="all"),
    ] = None,
    days: Annotated[int, typer.Option(metavar="NUMBER", help="How long it is valid.")] = 90,
    revoke: Annotated[
        str | None, typer.Option(metavar="ID", help="End one, at once.", show_default=False)
    ] = None,
) -> None:
    """Make a token, which is shown once and kept as a hash; or list them; or revoke one."""
    if name is not None and revoke is not None:
        raise typer.BadParameter("one of --name and --revoke")
    from .token_command import Asked, tell

    tell(path, Asked(name=name, role=role, datasets=dataset or (), days=days, revoke=revoke))


@app.command(
    epilog="Examples:  sfumato audit  ·  sfumato audit Laplace Gaussian --samples 100000  ·  "
    "sfumato audit local.Unary --epsilon 1 --out audit"
)
def audit(
    mechanism: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MECHANISM…", help="Names, such as Laplace or local.Unary.", show_default="all"
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            min=40,
            help="Draws at each of two inputs; ten times as many where one call gives them all.",
        ),
    ] = 2_000,
    epsilon: Annotated[
        list[float] | None,
        typer.Option(
            metavar="NUMBER", help="One level; may be repeated.", show_default="0.1, 0.5, 1, 2, 5"
        ),
    ] = None,
    draws: Annotated[
        bool, typer.Option("--draws", help="Draw everywhere, also where arithmetic would do.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for the table and the picture; made if missing.",
            show_default="none",
        ),
    ] = None,
) -> None:
    """Try to refute every mechanism's claim: claimed ε, proven lower bound, verdict."""
    from .audit_command import tell

    tell(mechanism or (), samples=samples, epsilons=tuple(epsilon or ()), draws=draws, out=out)


def main() -> None:
    """Run the command line. A user's mistake never shows a traceback, and neither does a failure:
    its text could be about a person.
    """
    try:
        app()
    except Refused as refusal:
        show(refusal)
        sys.exit(REFUSED)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (hint := missing(error)) is not None:
            show(hint)
            sys.exit(REFUSED)
        if os.environ.get("SFUMATO_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        print(Unmade.TEXT if isinstance(error, Unmade) else Failed.TEXT, file=sys.stderr)  # noqa: T201
        sys.exit(FAILED)
