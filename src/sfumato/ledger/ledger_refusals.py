"""The refusals of `ledger`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

LEDGER_BUDGET_1 = RefusalText(
    "ledger.budget",
    "{budget}",
    "the account has already spent more",
    "at least {account}",
)
LEDGER_BUDGET_2 = RefusalText(
    "ledger.budget",
    "{str}",
    "a new account needs a budget",
    "{format}",
)
LEDGER_BUDGET_3 = RefusalText(
    "ledger.budget",
    "a new ledger",
    "a new account needs a budget",
    "{format}",
)
LEDGER_BUSY_1 = RefusalText(
    "ledger.busy",
    "{name}",
    "the book changed while it was read; it was not touched",
    "try again",
)
LEDGER_BUSY_2 = RefusalText(
    "ledger.busy",
    "{name}",
    "other threads held the book for too long; nothing was accepted, no data was read",
    "try again",
)
LEDGER_CHARGE_1 = RefusalText(
    "ledger.charge",
    "charge(…)",
    "a charge takes mechanisms or guarantees",
    "charge([m], memo='why')",
)
LEDGER_CHARGE_2 = RefusalText(
    "ledger.charge",
    "charge(…)",
    "a name contains half of a surrogate pair, which has no encoding",
    "names that can be printed",
)
LEDGER_CORRUPT_1 = RefusalText(
    "ledger.corrupt",
    "the book",
    "{reason}; nothing was accepted",
    "the last backup, checked with verify(head)",
)
LEDGER_CORRUPT_2 = RefusalText(
    "ledger.corrupt",
    "a book of an older version",
    "the entries do not come to what the book says; it was not touched",
    "the last backup, checked with verify(head)",
)
LEDGER_CURRENCY_1 = RefusalText(
    "ledger.currency",
    "{budget}",
    "the book counts in {type}, at the orders it began with",
    "the same currency",
)
LEDGER_DATASET_1 = RefusalText(
    "ledger.dataset",
    "dataset={dataset!r:.60}",
    "this ledger is the account of {dataset_2!r:.60}",
    "Ledger.open(path, dataset={dataset!r:.60})",
)
LEDGER_DATASET_2 = RefusalText(
    "ledger.dataset",
    "{names_count} datasets",
    "the book holds several datasets: name one",
    "dataset={names!r}",
)
LEDGER_DATASET_3 = RefusalText(
    "ledger.dataset",
    "dataset={name!r}",
    "the book has no such dataset; a new one needs a budget, a unit and a relation",
    "{format}",
)
LEDGER_FORK_1 = RefusalText(
    "ledger.fork",
    "{name}",
    (
        "the process was forked in the middle of a transaction on this book; nothing was "
        "accepted, no data was read"
    ),
    "a process started anew: multiprocessing.get_context('spawn')",
)
LEDGER_FORK_2 = RefusalText(
    "ledger.fork",
    "{name}",
    "the process was forked in the middle of a transaction; nothing was accepted",
    "the parent process",
)
LEDGER_FORK_3 = RefusalText(
    "ledger.fork",
    "a ledger in memory",
    "another process holds the book: two copies could both be spent",
    "Ledger.open(path)",
)
LEDGER_FORMAT_1 = RefusalText(
    "ledger.format",
    "{name}",
    "this file is not a ledger; it was not touched",
    "another path",
)
LEDGER_FORMAT_2 = RefusalText(
    "ledger.format",
    "the schema sfumato",
    "it is not a ledger; it was not touched",
    "another database",
)
LEDGER_HEAD_1 = RefusalText(
    "ledger.head",
    "entry {number}",
    (
        "the book does not contain the head that was kept: it was cut, rewritten, or is another "
        "or an older copy; nothing was accepted"
    ),
    "the right file; verify(head) says more",
)
LEDGER_HEAD_2 = RefusalText(
    "ledger.head",
    "{line!r:.80}",
    "this is not the head of a ledger",
    "the line that str(ledger.head) prints",
)
LEDGER_KEY_1 = RefusalText(
    "ledger.key",
    "entry {number}",
    "this key was used for another charge; nothing was spent",
    "a new key",
)
LEDGER_KEY_2 = RefusalText(
    "ledger.key",
    "entry {number}",
    "the reservation of this key was given back; nothing was spent",
    "a new key",
)
LEDGER_LOCKS_1 = RefusalText(
    "ledger.locks",
    "{name}",
    (
        "several machines write to this file system, and this machine does not see their locks; "
        "{NOTHING}"
    ),
    "{LOCAL}",
)
LEDGER_LOCKS_2 = RefusalText(
    "ledger.locks",
    "{name}",
    "locks on this file system exclude nobody: the budget could be spent twice; {NOTHING}",
    "{LOCAL}",
)
LEDGER_LOG_1 = RefusalText(
    "ledger.log",
    "{name}",
    "its log, or the index of the log, was deleted or replaced while the book was open; {NOTHING}",
    (
        "close() every book on this file, which writes the log's entries to it; then "
        "Ledger.open(path, head=head)"
    ),
)
LEDGER_MISSING_1 = RefusalText(
    "ledger.missing",
    "psycopg",
    "a ledger on PostgreSQL is written by psycopg, which is not installed",
    "pip install 'sfumato[postgres]'",
)
LEDGER_MOVED_1 = RefusalText(
    "ledger.moved",
    "{name}",
    "the file was moved or replaced while the book was open; nothing was accepted",
    "open it again",
)
LEDGER_NAME_1 = RefusalText(
    "ledger.name",
    "{what}={word!a:.60}",
    "it contains half of a surrogate pair, which has no encoding",
    "a {what} that can be printed",
)
LEDGER_NAME_2 = RefusalText(
    "ledger.name",
    "{what}={value!r:.60}",
    "a {what} is printable text",
    "{what}='visits-2026'",
)
LEDGER_NAME_3 = RefusalText(
    "ledger.name",
    "{what}={value!a:.60}",
    (
        "letters and accents are separate characters: the ledger would not find it under the "
        "name that looks the same"
    ),
    "{what}={normalize!r:.60}",
)
LEDGER_NAMES_1 = RefusalText(
    "ledger.names",
    "{name}",
    (
        "the file has a second name, or is mounted by itself: each name would have a log of its "
        "own, and the budget could be spent twice; {NOTHING}"
    ),
    "one name: no hard link; mount the folder of the file, not the file",
)
LEDGER_PATH_1 = RefusalText(
    "ledger.path",
    "{name}",
    "a ledger is a file in a folder that exists",
    "visits.ledger",
)
LEDGER_PATH_2 = RefusalText(
    "ledger.path",
    "{name}",
    "a ledger is a file, and this is a folder",
    "the file in it",
)
LEDGER_PATH_3 = RefusalText(
    "ledger.path",
    "{name}",
    "there is no such file, or it cannot be read; nothing was created",
    "the path of a ledger",
)
LEDGER_PATH_4 = RefusalText(
    "ledger.path",
    "a URL",
    "a ledger is a file path or a PostgreSQL URL, given as text",
    "postgresql://role@host/database",
)
LEDGER_PATH_5 = RefusalText(
    "ledger.path",
    "the database",
    "it holds no ledger; nothing was created",
    "{format}",
)
LEDGER_PATH_6 = RefusalText(
    "ledger.path",
    "{name}",
    "PostgreSQL cannot parse this URL",
    "postgresql://role@host/database",
)
LEDGER_READ_ONLY_1 = RefusalText(
    "ledger.read-only",
    "{name}",
    "the ledger was opened read-only; nothing was changed",
    "Ledger.open(path)",
)
LEDGER_READ_ONLY_2 = RefusalText(
    "ledger.read-only",
    "{name}",
    "the book cannot be written; nothing was accepted",
    "a path that can be written",
)
LEDGER_RECEIPT_1 = RefusalText(
    "ledger.receipt",
    "entry {number}",
    "the book has no such charge of this dataset",
    "a receipt that charge() or reserve() returned",
)
LEDGER_RESERVATION_1 = RefusalText(
    "ledger.reservation",
    "entry {number}",
    "it is not an open reservation",
    "a receipt from reserve(), settled once",
)
LEDGER_RESERVATION_2 = RefusalText(
    "ledger.reservation",
    "entry {number}",
    "no data may be read for a reservation before it is used",
    "use(receipt) first",
)
LEDGER_SCHEMA_1 = RefusalText(
    "ledger.schema",
    "schema=…",
    "a schema maps each column to the name of its type",
    "schema={{'age': 'integer'}}",
)
LEDGER_SERVER_1 = RefusalText(
    "ledger.server",
    "PostgreSQL",
    "its version is older than {value}; nothing was accepted",
    "a newer server",
)
LEDGER_SHARE_1 = RefusalText(
    "ledger.share",
    "share={share!r}",
    "the share exists already; amend(budget, reason, share=share) changes it",
    "another name",
)
LEDGER_SHARE_2 = RefusalText(
    "ledger.share",
    "share={share!r}",
    "the dataset has no such share",
    "allow(share, budget) makes one",
)
LEDGER_SQLITE_1 = RefusalText(
    "ledger.sqlite",
    "SQLite {sqlite_lib_version}",
    "older versions can lose a commit when the log is reset",
    "a newer apsw",
)
LEDGER_STORAGE_1 = RefusalText(
    "ledger.storage",
    "PostgreSQL",
    "the database does not use UTF-8; nothing was accepted",
    "CREATE DATABASE ledger ENCODING 'UTF8' TEMPLATE template0",
)
LEDGER_STORAGE_2 = RefusalText(
    "ledger.storage",
    "PostgreSQL",
    "the server runs with fsync=off: what it commits may be lost; nothing was accepted",
    "fsync = on",
)
LEDGER_STORAGE_3 = RefusalText(
    "ledger.storage",
    "{name}",
    "a transaction is open already; {NOTHING}",
    "one after the other",
)
LEDGER_STORAGE_4 = RefusalText(
    "ledger.storage",
    "PRAGMA journal_mode=WAL",
    "this file system cannot hold a book that several processes write",
    "a local disk",
)
LEDGER_TEXT_1 = RefusalText(
    "ledger.text",
    "answer=…",
    "an answer is stored as bytes",
    "answer.encode()",
)
LEDGER_TEXT_2 = RefusalText(
    "ledger.text",
    "{what}=…",
    "a {what} is text, for readers of the ledger",
    "{what}='why'",
)
LEDGER_VERSION_1 = RefusalText(
    "ledger.version",
    "schema {version}",
    "this sfumato reads schema {SCHEMA}; the tables were not touched",
    "{rewrite}",
)
LEDGER_VERSION_2 = RefusalText(
    "ledger.version",
    "schema {version}",
    (
        "this sfumato reads schema {SCHEMA}, and the role may not rewrite the tables; they were "
        "not touched"
    ),
    "open it once as the owner of the database; keep a copy",
)
LEDGER_VERSION_3 = RefusalText(
    "ledger.version",
    "schema {version}",
    "this sfumato reads schema {SCHEMA}; the file was not touched",
    "{rewrite}",
)
