"""The refusals of `server`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

LEDGER_HEAD_1 = RefusalText(
    "ledger.head",
    "the ledger of {name!r:.60}",
    "{reason}",
    (
        "the latest ledger; if it is lost, follow `Backup` on the ledger page, and begin new "
        'records: tokens = "tokens-2.db"'
    ),
)
PLAN_PROMISE_1 = RefusalText(
    "plan.promise",
    "promise",
    "a notion comes with its own numbers",
    '{{"notion": "Pure", "epsilon": "0.5"}}',
)
SERVER_CELLS_1 = RefusalText(
    "server.cells",
    "{groups} groups",
    (
        "its reply may take {reply} bytes, and a reply has at most {answer_bytes} here "
        "(`answer_bytes`)"
    ),
    "fewer keys, bins, quantiles or columns",
)
SERVER_COMPLEX_1 = RefusalText(
    "server.complex",
    "{number} {what}",
    "a question has at most {most} of them here",
    "{rewrite}",
)
SERVER_CONFIG_1 = RefusalText(
    "server.config",
    "{place}",
    "{reason}",
    "{rewrite}",
)
SERVER_CONFIG_2 = RefusalText(
    "server.config",
    "{name}",
    "this file cannot be read as text",
    "sfumato serve sfumato.toml",
)
SERVER_CONFIG_3 = RefusalText(
    "server.config",
    "[server] {name} = {name_2!r:.80}",
    "{reason}",
    "{rewrite}",
)
SERVER_DAYS_1 = RefusalText(
    "server.days",
    "{days}",
    "a token is valid for 1 to {MOST_DAYS} days",
    "--days 90",
)
SERVER_EXPLAIN_1 = RefusalText(
    "server.explain",
    "EXPLAIN PRIVACY",
    "this is a plan, and costs nothing",
    "POST /api/datasets/{message}/plan",
)
SERVER_LEAST_1 = RefusalText(
    "server.least",
    "the cost",
    (
        "a release uses at least 1/{releases} of the dataset's budget here, and this one would "
        "use {part:.3g}; nothing was read, nothing was charged"
    ),
    "{budget}",
)
SERVER_NAME_1 = RefusalText(
    "server.name",
    "{name!r:.60}",
    "a name has up to 64 letters, digits and . _ @ -",
    "ada",
)
SERVER_NAME_2 = RefusalText(
    "server.name",
    "datasets",
    "a dataset is named as in the configuration",
    "--dataset visits",
)
SERVER_RECORDS_1 = RefusalText(
    "server.records",
    "[server] tokens",
    (
        "this file or database schema does not hold the records of a sfumato service; it was "
        "not touched"
    ),
    'a place of their own: tokens = "tokens.db"',
)
SERVER_RECORDS_2 = RefusalText(
    "server.records",
    "version {version}",
    "this sfumato knows version {VERSION} of a service's records; they were not touched",
    "{rewrite}",
)
SERVER_ROLE_1 = RefusalText(
    "server.role",
    "{role!r:.60}",
    "the roles are {ROLES}",
    "--role analyst",
)
SERVER_STORAGE_1 = RefusalText(
    "server.storage",
    "the service's own records",
    "they cannot be read or written",
    "check the disk or the database",
)
SERVER_STORED_1 = RefusalText(
    "server.stored",
    "the token's name",
    (
        "the replies kept for it take {used} of {most} bytes (`stored_per_analyst`), and this "
        "one may take {value}; nothing was charged"
    ),
    "a smaller answer; the service deletes replies after {days} days; the owner may allow more",
)
SERVER_VOID_1 = RefusalText(
    "server.void",
    "Idempotency-Key",
    "it was used so long ago that its reply is not kept any more; nothing was charged now",
    "a new key: a new charge, unless the ledger has the answer",
)
SERVER_WORK_1 = RefusalText(
    "server.work",
    "this question",
    (
        "it takes {row_work:,} operations for each row, and the longest deadline here has time "
        "for {int:,}"
    ),
    "fewer text functions, or several questions; one operation on a text counts 64",
)
