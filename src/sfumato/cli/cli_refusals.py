"""The refusals of `cli`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

RISK = "sfumato risk visits.csv --columns sex,age,city --sensitive disease --out risk.html"

# Files

FILE_UNREADABLE = RefusalText(
    "table.path",
    "{name}",
    "this file cannot be read",
    "name a file that exists",
)
DECLARATION_UNREADABLE = RefusalText(
    "table.path",
    "{name}",
    "this file cannot be read as text",
    'Path("visits.toml").write_text(declaration.to_toml())',
)
SYNTHETIC_FILE = RefusalText(
    "table.path",
    "{name}",
    "a synthetic table is written as a .parquet or a .csv file",
    "--out synthetic.parquet",
)
CSV_COLUMN_MISSING = RefusalText(
    "table.column",
    "--column {column}",
    "the first line of the file has no such column",
    "head -n 1 '{path}'",
)
PARQUET_COLUMN_MISSING = RefusalText(
    "table.column",
    "--column {column}",
    "the schema of the file has no such column",
    "python -c \"import pyarrow.parquet as pq; print(pq.read_schema('{path}').names)\"",
)

# sfumato query

UNIT_NOT_NAMED = RefusalText(
    "table.unit",
    "no --unit",
    "{column} looks like an identifier, and without a unit each row counts as a different person: "
    "name the unit, or say --each-row-a-person",
    "--unit {column}",
)
UNKNOWN_INPUT_FORMAT = RefusalText(
    "table.path",
    "--format {form!r:.40}",
    "the standard input is CSV or Parquet",
    "--format csv",
)

# sfumato budget

LEDGER_ALTERED = RefusalText(
    "ledger.altered",
    "{name}",
    "{problems}",
    "restore the last backup that verifies; do not charge this ledger",
)
UNKNOWN_DATASET = RefusalText(
    "ledger.dataset",
    "--dataset {dataset}",
    "the datasets of the ledger are {datasets}",
    "--dataset {first}",
)
SEVERAL_DATASETS = RefusalText(
    "ledger.dataset",
    "{count} datasets",
    "--json and --csv write one dataset",
    "--dataset {first}",
)

# sfumato token

UNKNOWN_TOKEN_DATASET = RefusalText(
    "server.name",
    "--dataset {dataset:.60}",
    "the datasets of the configuration are {datasets}",
    "--dataset {first}",
)
UNKNOWN_TOKEN = RefusalText(
    "server.name",
    "--revoke {token:.60}",
    "there is no such token, or it was revoked before",
    "sfumato token {path}",
)

# sfumato local

REPORTS_NOT_WRITTEN = RefusalText(
    "local.out",
    "{name}",
    "the reports cannot be written there",
    "--out reports.sflr",
)
PANEL_NEEDS_MEMORY = RefusalText(
    "local.panel",
    "{name}",
    (
        "a panel is answered wave by wave and needs a memory for each person, which this "
        "command does not store; sfumato/local/client.py does"
    ),
    "client.perturb(question, value, memory, wave=0)",
)

# sfumato risk, sfumato demo

COLUMNS_MISSING = RefusalText(
    "attacks.columns",
    "--columns",
    "name at least one column that an attacker may know of a person",
    RISK,
)
REPORT_NOT_WRITTEN = RefusalText(
    "attacks.out",
    "--out {out}",
    "the report cannot be written there",
    RISK,
)
DEMO_NOT_WRITTEN = RefusalText(
    "demo.out",
    "--out {out}",
    "the page cannot be written there",
    "sfumato demo --out pictures",
)
