"""Define the commands and their options. Exit codes: 0 done, 1 refused, 2 wrong usage, 3 failed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..errors import Failed, Refused, missing_package
from .local_command import local
from .refusal import CommandLine, ReportFailed, print_refusal, rewrite_as_command
from .terminal import argument, flag, option, output_format

REFUSED, FAILED = 1, 3  # wrong usage is 2, and typer's own

app = typer.Typer(
    name="sfumato",
    help="Differential privacy with exact noise.",
    epilog="Exit codes: 0 done, 1 refused, 2 wrong usage, 3 failed.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(local, name="local")


def _print_version(is_asked_for: bool) -> None:
    if is_asked_for:
        version()
        raise typer.Exit


@app.callback()
def start(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Differential privacy with exact noise."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"sfumato {__version__}")


@app.command(epilog="Examples:  sfumato demo  ·  sfumato demo --out pictures")
def demo(
    out: Annotated[
        Path, option("DIR", "Directory for the page; made if missing.", default="here")
    ] = Path(),
) -> None:
    """Show everything on sample data: who is unique, an attack with and without noise, answers, a
    budget that runs out, an audit.
    """
    from .demo_command import run_demo

    run_demo(out=out)


@app.command(
    epilog="Examples:  sfumato budget visits.ledger  ·  sfumato budget visits.ledger --history  "
    "·  sfumato budget visits.ledger --csv > visits.csv  ·  "
    'sfumato budget visits.ledger --verify --head "$(cat visits.head)"'
)
def budget(
    path: Annotated[
        str, argument("PATH", "The ledger: a file, or postgresql://… The command only reads it.")
    ],
    dataset: Annotated[
        str | None, option("NAME", "One dataset of the ledger.", default="all")
    ] = None,
    history: Annotated[bool, flag("--history", "Print every entry, oldest first.")] = False,
    as_json: Annotated[
        bool, flag("--json", "Everything about one dataset as JSON, numbers exact.")
    ] = False,
    as_csv: Annotated[bool, flag("--csv", "The entries of one dataset as CSV.")] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Check the hash chain and all totals of the ledger; exit code 1 if they do "
            "not hold.",
        ),
    ] = False,
    head: Annotated[
        str | None, option("LINE", "With --verify: the last known head line, stored elsewhere.")
    ] = None,
) -> None:
    """Print the budget of each dataset: promised, spent on what, and left."""
    form = output_format(as_json=as_json, as_csv=as_csv)
    if as_csv and verify:
        raise typer.BadParameter("--verify works with text and --json, not with --csv")
    if head is not None and not verify:
        raise typer.BadParameter("--head needs --verify")
    from .budget_command import BudgetRequest, print_budget

    print_budget(
        path, BudgetRequest(dataset=dataset, history=history, form=form, verify=verify, head=head)
    )


@app.command(
    epilog="Examples:  sfumato synthesize visits.parquet --declaration visits.toml --epsilon 1  ·  "
    "sfumato synthesize visits.parquet --declaration visits.toml --epsilon 1 "
    "--columns age,city --ledger visits.ledger --out synthetic.parquet"
)
def synthesize(
    path: Annotated[Path, argument("FILE", "A Parquet, CSV or DuckDB file.")],
    declaration: Annotated[Path, option("TOML", "The declaration of the table.", default="needed")],
    epsilon: Annotated[str, option("NUMBER", "Privacy loss of the table.", default="needed")],
    delta: Annotated[str | None, option("NUMBER", "δ of the table.", default="1e-9")] = None,
    columns: Annotated[
        list[str] | None,
        option(
            "COLUMN[=BINS],…",
            "Columns; may be repeated. BINS is a number of spans, or edges of numbers or dates: "
            "age=20, spend=0:5:50, day=2026-01-01:2026-02-01.",
            default="all",
        ),
    ] = None,
    rows: Annotated[
        int | None, option("NUMBER", "The number of rows.", default="a noisy count of the data")
    ] = None,
    ledger: Annotated[
        str | None, option("PATH", "The ledger that records the cost.", default="none")
    ] = None,
    out: Annotated[
        Path | None,
        option("FILE", "Where to write the rows, as .parquet or .csv.", default="only plan"),
    ] = None,
) -> None:
    """Write invented rows whose counts are near those of a file, and a card with a certificate of
    their error. Without --out, print the plan: it reads no data and costs nothing.
    """
    from .synthesize_command import SynthesisRequest, run_synthesis

    run_synthesis(
        path,
        SynthesisRequest(
            declaration=declaration,
            epsilon=epsilon,
            delta=delta,
            columns=columns or (),
            rows=rows,
            ledger=ledger,
            out=out,
        ),
    )


@app.command(
    epilog="Examples:  sfumato query visits.parquet 'SELECT city, COUNT(*) AS n FROM visits "
    "GROUP BY city' --unit user_id --max-rows 5 --keys city=Roma,Bari "
    "--epsilon 0.3  ·  sfumato query visits.parquet 'SELECT AVG(spend) AS m FROM visits' "
    "--declaration visits.toml --epsilon 0.1 --budget 1 "
    "--ledger visits.ledger  ·  with --plan no data is read"
)
def query(
    path: Annotated[
        Path,
        argument(
            "FILE",
            "A Parquet, CSV or DuckDB file; - reads the standard input. Its name without the "
            "ending is the table's name.",
        ),
    ],
    text: Annotated[str, argument("SELECT", "The question.")],
    epsilon: Annotated[
        str | None, option("NUMBER", "Privacy loss of the answer, such as 0.3 or 1/3.")
    ] = None,
    within: Annotated[
        list[str] | None,
        option(
            "NUMBER|COLUMN=NUMBER",
            "Instead of --epsilon: the largest error, at 95 %; may be repeated.",
        ),
    ] = None,
    group_size: Annotated[
        int | None, option("NUMBER", "With --within of a mean: the expected rows of a group.")
    ] = None,
    unit: Annotated[
        list[str] | None,
        option(
            "COLUMN",
            "The column of the person that a row is about; may be repeated.",
            default="none",
        ),
    ] = None,
    each_row_a_person: Annotated[
        bool,
        flag("--each-row-a-person", "Say that no person has two rows, where there is no --unit."),
    ] = False,
    delta: Annotated[
        str | None,
        option("NUMBER", "δ of the answer.", default="a thousandth of the budget's, or 1e-9"),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        option("COLUMN=LOW:HIGH", "Clip a column to these bounds; may be repeated."),
    ] = None,
    keys: Annotated[
        list[str] | None, option("COLUMN=A,B", "Public keys of a column; may be repeated.")
    ] = None,
    types: Annotated[
        list[str] | None,
        option(
            "COLUMN=TYPE|FILE",
            "The type of a column, or a Parquet file whose schema has the types; may be repeated.",
        ),
    ] = None,
    file_format: Annotated[
        str, typer.Option("--format", metavar="csv|parquet", help="Of the standard input.")
    ] = "csv",
    max_rows: Annotated[
        int | None, option("NUMBER", "The most rows that a unit counts for.")
    ] = None,
    max_groups: Annotated[
        int | None, option("NUMBER", "The most groups that a unit counts in.", default="--max-rows")
    ] = None,
    name: Annotated[str | None, option("NAME", "The table's name.", default="the file's")] = None,
    relation: Annotated[
        str | None,
        option("RELATION", "The neighbour relation: add-remove or replace.", default="add-remove"),
    ] = None,
    declaration: Annotated[
        Path | None,
        option("TOML", "A declaration file, instead of --unit, --bounds, --keys and so on."),
    ] = None,
    budget: Annotated[
        str | None,
        option(
            "NUMBER", "ε of the total budget, with δ = 1e-6.", default="the cost of this question"
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        option(
            "PATH", "The ledger that records the budget: a file or postgresql://…", default="none"
        ),
    ] = None,
    as_json: Annotated[bool, flag("--json", "Print the answer as JSON.")] = False,
    as_csv: Annotated[bool, flag("--csv", "Print the answer as CSV, with interval ends.")] = False,
    rules: Annotated[
        bool, flag("--rules", "Also print every rule of the answer, and what limits left out.")
    ] = False,
    plan: Annotated[
        bool, flag("--plan", "Print only the cost and the expected error; no data is read.")
    ] = False,
) -> None:
    """Ask one question about a protected file, in SQL."""
    form = output_format(as_json=as_json, as_csv=as_csv)
    if declaration is not None and any(
        (unit, bounds, keys, types, max_rows, max_groups, name, relation, each_row_a_person)
    ):
        raise typer.BadParameter(
            "--declaration replaces --unit, --each-row-a-person, --bounds, --keys, --types, "
            "--max-rows, --max-groups, --name and --relation"
        )
    if (epsilon is None) == (not within):
        raise typer.BadParameter("give --epsilon or --within, and not both")
    from .query_command import (
        DeclarationOptions,
        QueryRequest,
        check_unit,
        parse_within,
        read_declaration,
        run_query,
    )
    from .standard_input import input_file

    options = DeclarationOptions(
        unit=unit or (),
        bounds=bounds or (),
        keys=keys or (),
        types=types or (),
        name=name,
        max_rows=max_rows,
        max_groups=max_groups,
        relation=relation,
    )
    arguments = options.arguments() if declaration is None else read_declaration(declaration)
    exact = parse_within(within or ())
    request = QueryRequest(
        text=text,
        epsilon=epsilon,
        within=exact,
        group_size=group_size,
        delta=delta,
        declaration=arguments,
        budget=budget,
        ledger=ledger,
        form=form,
        plan=plan,
        rules=rules,
    )
    repeated = {
        "--unit": unit,
        "--bounds": bounds,
        "--keys": keys,
        "--types": types,
        "--within": within,
    }
    single = {
        "--max-rows": max_rows,
        "--max-groups": max_groups,
        "--name": name,
        "--relation": relation,
        "--declaration": declaration,
        "--epsilon": epsilon,
        "--delta": delta,
        "--group-size": group_size,
        "--budget": budget,
        "--ledger": ledger,
        "--format": file_format if str(path) == "-" else None,
    }
    flags = {
        "--each-row-a-person": each_row_a_person,
        "--plan": plan,
        "--rules": rules,
        "--json": as_json,
        "--csv": as_csv,
    }
    command = CommandLine(
        ("sfumato", "query", *(name for name, on in flags.items() if on), str(path)),
        text,
        (
            *((option, value) for option, values in repeated.items() for value in values or ()),
            *((option, str(value)) for option, value in single.items() if value is not None),
        ),
    )
    example = (
        "sfumato query visits.parquet 'SELECT COUNT(*) AS n FROM visits' --unit user_id "
        "--max-rows 5 --epsilon 0.3"
    )
    with rewrite_as_command(example, command), input_file(path, file_format) as file:
        is_said = each_row_a_person or declaration is not None
        run_query(file, check_unit(file, request, is_said=is_said))


@app.command(
    epilog="Examples:  sfumato reproduce  ·  sfumato reproduce --out report  ·  sfumato "
    "reproduce --only table-4.9 --only figure-4.3 --repetitions 20"
)
def reproduce(
    out: Annotated[
        Path, option("DIR", "Directory for the report; made if missing.", default=True)
    ] = Path("report"),
    only: Annotated[
        list[str] | None,
        option("STUDY", "One study, such as table-4.4; may be repeated.", default="all"),
    ] = None,
    repetitions: Annotated[
        int,
        option(
            "NUMBER", "Runs of each experiment; slow ones run fewer times.", default=True, min=3
        ),
    ] = 200,
    seed: Annotated[
        int, option("NUMBER", "Seed of the public data, not of the noise.", default=True, min=0)
    ] = 2022,
) -> None:
    """Run every table and figure of the sources again, and write a report: printed numbers, our
    numbers, and the right way.
    """
    from .reproduce_command import run_reproduction

    run_reproduction(out, only or (), repetitions=repetitions, seed=seed)


@app.command(
    epilog="Examples:  sfumato risk people.csv --columns sex,age,city  ·  sfumato risk "
    "people.csv --columns sex,age,city --sensitive disease --out risk.html"
)
def risk(
    path: Annotated[
        Path, argument("FILE", "A Parquet, CSV or DuckDB file, a row for each person.")
    ],
    columns: Annotated[
        list[str], option("A,B", "Columns that an attacker may know of a person; may be repeated.")
    ],
    sensitive: Annotated[str | None, option("COLUMN", "The column to protect.")] = None,
    epsilon: Annotated[
        list[str] | None,
        option("A,B", "The values of ε to compare; may be repeated.", default="0.1, 0.5, 1, 2, 5"),
    ] = None,
    out: Annotated[Path, option("HTML", "The report.", default=True)] = Path("risk.html"),
) -> None:
    """Report how exposed the people in a file are, and how much noise would protect them. The
    report is about the raw data: it is not private itself.
    """
    from .risk_command import run_risk

    run_risk(path, columns, sensitive, epsilon or (), out)


@app.command(
    epilog="Examples:  sfumato serve --demo  ·  sfumato serve sfumato.toml --check  ·  "
    "sfumato serve sfumato.toml --postgres 5433"
)
def serve(
    path: Annotated[
        Path | None, argument("TOML", "The configuration: datasets, budgets, ledger, deadlines.")
    ] = None,
    demo: Annotated[
        bool, flag("--demo", "Serve the sample data, with a token for each role.")
    ] = False,
    host: Annotated[str, option("HOST", "With --demo.", default=True)] = "127.0.0.1",
    port: Annotated[int, option("PORT", "With --demo.", default=True, min=1, max=65535)] = 8000,
    postgres: Annotated[
        int | None, option("PORT", "Also serve PostgreSQL clients at this port.", min=1, max=65535)
    ] = None,
    check: Annotated[
        bool,
        flag("--check", "Check the configuration, time invented rows, propose deadlines, and end."),
    ] = False,
) -> None:
    """Serve protected datasets by an HTTP API, a web page and the PostgreSQL protocol: analysts get
    answers, never data.
    """
    if demo == (path is not None):
        raise typer.BadParameter("give either a TOML file or --demo")
    if demo and check:
        raise typer.BadParameter("--check goes with a TOML file")
    from . import serve_command as served

    if path is None:
        served.run_demo_server(host, port, postgres)
    elif check:
        served.check_server(path)
    else:
        served.run_server(path, postgres)


@app.command(
    epilog="Examples:  sfumato token sfumato.toml --name ada --role analyst --dataset visits "
    "--days 30  ·  sfumato token sfumato.toml  ·  "
    "sfumato token sfumato.toml --revoke ID"
)
def token(
    path: Annotated[Path, argument("TOML", "The configuration of the service.")],
    name: Annotated[str | None, option("NAME", "Create a token for a person of this name.")] = None,
    role: Annotated[str, option("ROLE", "owner, analyst or auditor.", default=True)] = "analyst",
    dataset: Annotated[
        list[str] | None,
        option("NAME", "A dataset that the token opens; may be repeated.", default="all"),
    ] = None,
    days: Annotated[int, option("NUMBER", "The days that the token is valid.", default=True)] = 90,
    revoke: Annotated[str | None, option("ID", "Revoke a token at once.")] = None,
) -> None:
    """Create, list or revoke tokens. A token is shown once and stored as a hash."""
    if name is not None and revoke is not None:
        raise typer.BadParameter("give --name or --revoke, not both")
    from .token_command import TokenRequest, run_token

    run_token(
        path, TokenRequest(name=name, role=role, datasets=dataset or (), days=days, revoke=revoke)
    )


@app.command(
    epilog="Examples:  sfumato audit  ·  sfumato audit Laplace Gaussian --samples 100000  ·  "
    "sfumato audit local.Unary --epsilon 1 --out audit"
)
def audit(
    mechanism: Annotated[
        list[str] | None,
        argument("MECHANISM…", "Names, such as Laplace or local.Unary.", default="all"),
    ] = None,
    samples: Annotated[
        int,
        option(
            "NUMBER",
            "Draws at each of two inputs; ten times as many if one call draws them all.",
            default=True,
            min=40,
        ),
    ] = 2_000,
    epsilon: Annotated[
        list[float] | None,
        option("NUMBER", "One level; may be repeated.", default="0.1, 0.5, 1, 2, 5"),
    ] = None,
    draws: Annotated[
        bool, flag("--draws", "Draw from every mechanism, even if its law is known.")
    ] = False,
    out: Annotated[
        Path | None,
        option("DIR", "Directory for the table and the picture; made if missing.", default="none"),
    ] = None,
) -> None:
    """Try to refute every mechanism's claim: claimed ε, proven lower bound, verdict."""
    from .audit_command import run_audit

    run_audit(mechanism or (), samples=samples, epsilons=tuple(epsilon or ()), draws=draws, out=out)


@app.command(
    "mcp",
    epilog="Examples:  SFUMATO_TOKEN=sft_… sfumato mcp http://127.0.0.1:8000  ·  sfumato mcp "
    "https://data.example.org --per-question 0.05 --in-all 0.5  ·  sfumato mcp "
    "http://127.0.0.1:8000 --http 8765",
)
def tools(
    url: Annotated[str, argument("URL", "The service: the tools ask it with your token.")],
    per_question: Annotated[
        str, option("NUMBER", "ε of one question that needs no person's consent.", default=True)
    ] = "0.1",
    in_all: Annotated[
        str,
        option("NUMBER", "ε of all questions together that needs no consent.", default=True),
    ] = "1",
    http: Annotated[
        int | None,
        option(
            "PORT",
            "Serve over HTTP on this computer; each request carries its own token.",
            default="standard input and output, with the token in SFUMATO_TOKEN",
        ),
    ] = None,
) -> None:
    """Offer a service to programs as tools of the Model Context Protocol."""
    from .mcp_command import ToolOptions, run_tools

    run_tools(url, ToolOptions(per_question=per_question, in_all=in_all, http=http))


@app.command(
    epilog="Example:  SFUMATO_TOKEN=sft_… sfumato verify-claim claim.json http://127.0.0.1:8000"
)
def verify_claim(
    path: Annotated[
        Path,
        argument(
            "FILE",
            "A claim as JSON: the receipt of an answer, and column, row and value of a number; - "
            "reads the standard input.",
        ),
    ],
    url: Annotated[str, argument("URL", "The service that the answer came from.")],
) -> None:
    """Check a stated number against the answer that the ledger paid for. Free."""
    from .mcp_command import print_claim_check

    print_claim_check(path, url)


def main() -> None:
    """Run the command line. Neither a refusal nor a failure prints a traceback: its text could be
    about a person.
    """
    try:
        app()
    except Refused as refusal:
        print_refusal(refusal)
        sys.exit(REFUSED)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (hint := missing_package(error)) is not None:
            print_refusal(hint)
            sys.exit(REFUSED)
        if os.environ.get("SFUMATO_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        text = ReportFailed.TEXT if isinstance(error, ReportFailed) else Failed.TEXT
        sys.stderr.write(f"{text}\n")
        sys.exit(FAILED)
