"""The refusals of `cli`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

ATTACKS_COLUMNS_1 = RefusalText(
    "attacks.columns",
    "--columns",
    "name at least one column that an attacker may know of a person",
    "{EXAMPLE}",
)
ATTACKS_OUT_1 = RefusalText(
    "attacks.out",
    "--out {out}",
    "the report cannot be written there",
    "{EXAMPLE}",
)
DEMO_OUT_1 = RefusalText(
    "demo.out",
    "--out {out}",
    "the page cannot be written there",
    "sfumato demo --out pictures",
)
LEDGER_ALTERED_1 = RefusalText(
    "ledger.altered",
    "{path}",
    "{checked}",
    "restore the last backup that verifies; do not charge this ledger",
)
LEDGER_DATASET_1 = RefusalText(
    "ledger.dataset",
    "--dataset {dataset}",
    "the datasets of the ledger are {names}",
    "--dataset {next}",
)
LEDGER_DATASET_2 = RefusalText(
    "ledger.dataset",
    "{chosen_count} datasets",
    "--json and --csv write one dataset",
    "--dataset {next}",
)
LOCAL_OUT_1 = RefusalText(
    "local.out",
    "{name}",
    "the reports cannot be written there",
    "--out reports.sflr",
)
LOCAL_PANEL_1 = RefusalText(
    "local.panel",
    "{name}",
    (
        "a panel is answered wave by wave and needs a memory for each person, which this "
        "command does not store"
    ),
    "client.perturb(question, value, memory, wave=0), in sfumato/local/client.py",
)
SERVER_NAME_1 = RefusalText(
    "server.name",
    "--dataset {unknown:.60}",
    "the datasets of the configuration are {datasets}",
    "--dataset {next}",
)
SERVER_NAME_2 = RefusalText(
    "server.name",
    "--revoke {revoke:.60}",
    "there is no such token, or it was revoked before",
    "sfumato token {path}, which lists the tokens",
)
TABLE_COLUMN_1 = RefusalText(
    "table.column",
    "--column {name}",
    "the file has no such column",
    "a name of the first line of the file",
)
TABLE_COLUMN_2 = RefusalText(
    "table.column",
    "--column {name}",
    "the file has no such column",
    "a name of its schema",
)
TABLE_PATH_1 = RefusalText(
    "table.path",
    "{name}",
    "this file cannot be read",
    "a file that exists",
)
TABLE_PATH_2 = RefusalText(
    "table.path",
    "{name}",
    "this file cannot be read as text",
    "a file written by Declaration.to_toml()",
)
