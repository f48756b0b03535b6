"""The refusals of `ledger`. Names in braces are fields.

`{outcome}` says what became of a transaction or of a file: one of the four texts below.
"""

from __future__ import annotations

from ..errors import RefusalText, Refused, install_command

NOTHING_ACCEPTED = "nothing was accepted, no data was read"
NOTHING_CHANGED = "nothing was changed"
UNSURE = (
    "no receipt was given, no data was read; if the entry is in the book when it is opened again, "
    "it counts"
)
NOT_TOUCHED = "it was not touched"
REPEAT = "repeat the call"
BACKUP = "sf.Ledger.open(backup, head=head)"
ON_SERVER = "sf.Ledger.open('postgresql://role@host/database')"
ON_DISK = (
    "sf.Ledger.open('visits.ledger', budget=sf.Pure(1), dataset='visits', unit='user_id', "
    "relation='add-remove')"
)
SAME_KEY = "repeat a charge with the same key; ledger.history() shows whether it was written"
"""The rewrite after a commit whose outcome is unknown."""


class BudgetExceeded(Refused):
    """A charge that does not fit. Nothing was read, nothing was spent."""


class Conflict(Refused):
    """The storage rolled back a transaction because of a concurrent one. Nothing was accepted; the
    caller may try again.
    """


# What does not fit

BUDGET_EXCEEDED = RefusalText(
    "budget.exceeded",
    "{account}",
    "it does not fit: {left} is left; nothing was read, nothing was spent",
    "a smaller cost{cost}",
    BudgetExceeded,
)
SHARE_EXCEEDED = RefusalText(
    "budget.exceeded",
    "{dataset} / {share}",
    "the share has too little left to pay for what is stored; nothing was spent",
    "ledger.amend(budget, reason='a larger share', share={share!r})",
    BudgetExceeded,
)
BUDGET_BELOW_SPENT = RefusalText(
    "ledger.budget",
    "budget={budget}",
    "{spent} is spent already",
    "ledger.amend({least}, reason='no further questions')",
)
BUDGET_OF_PART = RefusalText(
    "ledger.budget",
    "{dataset}",
    "this account is of a part of {table}, which has paid for the part's budget: more would be "
    "paid by nobody",
    "visits.partition(sf.col('user_id') % 2, [0, 1], epsilon=0.1)",
)

# Open an account

NEW_ACCOUNT_WITHOUT_BUDGET = RefusalText(
    "ledger.budget",
    "{account}",
    "a new account needs a budget",
    "sf.Ledger.open({location}, budget=sf.Pure(1), dataset='visits', unit='user_id', "
    "relation='add-remove')",
)
DATABASE_WITHOUT_LEDGER = RefusalText(
    "ledger.path",
    "the database",
    "it holds no ledger; nothing was created",
    "sf.Ledger.open(url, budget=sf.Pure(1), dataset='visits', unit='user_id', "
    "relation='add-remove')",
)
UNKNOWN_DATASET = RefusalText(
    "ledger.dataset",
    "dataset={dataset!r}",
    "the book has no such dataset; a new one needs a budget, a unit and a relation",
    "sf.Ledger.open(path, budget=sf.Pure(1), dataset={dataset!r}, unit='user_id', "
    "relation='add-remove')",
)
DATASET_NOT_NAMED = RefusalText(
    "ledger.dataset",
    "{count} datasets",
    "the book holds several datasets: name one",
    "sf.Ledger.open(path, dataset={first!r})",
)
LEDGER_OF_OTHER_DATASET = RefusalText(
    "ledger.dataset",
    "dataset={dataset!r:.60}",
    "this ledger is the account of {account!r:.60}",
    "sf.Ledger.open(path, dataset={dataset!r:.60})",
)

# A declaration that differs from the book, or from itself

OTHER_UNIT = RefusalText(
    "ledger.unit",
    "unit={declared!r:.80}",
    "the unit of the account is {stored!r:.80}",
    "unit={stored!r}",
)
OTHER_RELATION = RefusalText(
    "ledger.relation",
    "relation={declared!r:.80}",
    "the relation of the account is {stored!r:.80}",
    "relation={stored!r}",
)
OTHER_SCHEMA = RefusalText(
    "ledger.schema",
    "schema={declared!r:.80}",
    "the schema of the account is {stored!r:.80}",
    "schema={stored!r}",
)
OTHER_BUDGET = RefusalText(
    "ledger.budget",
    "budget={declared!r:.80}",
    "the budget of the account is {stored!r:.80}; amend() changes it",
    "budget={python}",
)
OTHER_CURRENCY = RefusalText(
    "ledger.currency",
    "budget={declared!r:.80}",
    "the account counts in {currency}",
    "budget={python}",
)
OTHER_ORDERS = RefusalText(
    "ledger.currency",
    "budget={declared!r:.80}",
    "the account counts at the orders {orders}",
    "budget={python}",
)
BUDGET_OF_OTHER_UNIT = RefusalText(
    "ledger.unit",
    "unit={unit!r}",
    "the unit of the budget is {of_budget!r}",
    "unit={of_budget!r}",
)
BUDGET_OF_OTHER_RELATION = RefusalText(
    "ledger.relation",
    "relation={relation!r}",
    "the relation of the budget is {of_budget!r}",
    "relation={of_budget!r}",
)

# Names and texts

NAME_NOT_PRINTABLE = RefusalText(
    "ledger.name",
    "{what}={value!r:.60}",
    "a {what} is printable text",
    "{what}='visits-2026'",
)
NAME_NOT_COMPOSED = RefusalText(
    "ledger.name",
    "{what}={value!a:.60}",
    (
        "letters and accents are separate characters: the ledger would not find it under the "
        "name that looks the same"
    ),
    "{what}={composed!r:.60}",
)
UNIT_NOT_ENCODABLE = RefusalText(
    "ledger.name",
    "unit={unit!a:.60}",
    "it contains half of a surrogate pair, which has no encoding",
    "unit='user_id'",
)
SCHEMA_NOT_ENCODABLE = RefusalText(
    "ledger.name",
    "schema={word!a:.60}",
    "it contains half of a surrogate pair, which has no encoding",
    "schema={{'age': 'integer'}}",
)
SCHEMA_NOT_TEXT = RefusalText(
    "ledger.schema",
    "schema=…",
    "a schema maps each column to the name of its type",
    "schema={{'age': 'integer'}}",
)
NOT_TEXT = RefusalText(
    "ledger.text",
    "{what}=…",
    "a {what} is a text in valid Unicode, for readers of the ledger",
    "{what}='the weekly report'",
)
REASON_EMPTY = RefusalText(
    "ledger.text",
    "reason=''",
    "the entry needs a reason, for readers of the ledger",
    "reason='the second wave of the survey'",
)
ANSWER_NOT_BYTES = RefusalText(
    "ledger.text",
    "answer=…",
    "an answer is stored as bytes",
    "ledger.remember(receipt, question, answer.encode())",
)
NOT_A_HEAD = RefusalText(
    "ledger.head",
    "{line!r:.80}",
    "this is not the head of a ledger",
    "str(ledger.head)",
)

# Charges, receipts, reservations, shares

NOT_MECHANISMS = RefusalText(
    "ledger.charge",
    "charge(…)",
    "a charge takes mechanisms or guarantees",
    "ledger.charge([mechanism], memo='why')",
)
MECHANISM_NOT_ENCODABLE = RefusalText(
    "ledger.charge",
    "charge(…)",
    "a name in a mechanism contains half of a surrogate pair, which has no encoding",
    "name.encode('utf-8', 'replace').decode()",
)
KEY_OF_OTHER_CHARGE = RefusalText(
    "ledger.key",
    "entry {number}",
    "this key was used for another charge; nothing was spent",
    "key=secrets.token_hex(16)",
)
KEY_OF_RELEASED_CHARGE = RefusalText(
    "ledger.key",
    "entry {number}",
    "the reservation of this key was given back; nothing was spent",
    "key=secrets.token_hex(16)",
)
UNKNOWN_CHARGE = RefusalText(
    "ledger.receipt",
    "entry {number}",
    "the dataset has no such charge",
    "receipt = ledger.charge(mechanism)",
)
RESERVATION_NOT_OPEN = RefusalText(
    "ledger.reservation",
    "entry {number}",
    "it is not an open reservation",
    "receipt = ledger.reserve(mechanism)",
)
RESERVATION_NOT_USED = RefusalText(
    "ledger.reservation",
    "entry {number}",
    "no data may be read for a reservation before it is used",
    "ledger.use(receipt)",
)
SHARE_EXISTS = RefusalText(
    "ledger.share",
    "share={share!r}",
    "the dataset has this share already",
    "ledger.amend(budget, reason='another budget', share={share!r})",
)
UNKNOWN_SHARE = RefusalText(
    "ledger.share",
    "share={share!r}",
    "the dataset has no such share",
    "ledger.allow({share!r}, budget)",
)
ACCOUNT_NOT_OPEN = RefusalText(
    "ledger.account",
    "{dataset:.80}",
    "this account is not open yet, so it has no budget, and nothing is spent: the first charge "
    "opens it; for a stream, the first advance()",
    "stream.advance(until='2026-02-01'), then stream.ledger",
)

# Where a ledger is

FOLDER_MISSING = RefusalText(
    "ledger.path",
    "{name}",
    "the folder of the ledger does not exist",
    "create the folder, then open the ledger again",
)
PATH_IS_FOLDER = RefusalText(
    "ledger.path",
    "{name}",
    "a ledger is a file, and this is a folder",
    "{name}/visits.ledger",
)
FILE_UNREADABLE = RefusalText(
    "ledger.path",
    "{name}",
    "there is no such file, or it cannot be read; nothing was created",
    "sfumato.ledger.reading('visits.ledger')",
)
FILE_NOT_OPENED = RefusalText(
    "ledger.path",
    "{name}",
    "there is no such path, or it cannot be opened; {outcome}",
    ON_DISK,
)
NOT_A_POSTGRES_URL = RefusalText(
    "ledger.path",
    "a URL",
    "a ledger is a file path or a PostgreSQL URL, given as text",
    ON_SERVER,
)
URL_NOT_PARSED = RefusalText(
    "ledger.path",
    "{name}",
    "PostgreSQL cannot parse this URL",
    ON_SERVER,
)
NOT_A_LEDGER = RefusalText(
    "ledger.format",
    "{name}",
    "this file is not a ledger; {outcome}",
    ON_DISK,
)
SCHEMA_NOT_A_LEDGER = RefusalText(
    "ledger.format",
    "the schema sfumato",
    "it is not a ledger; it was not touched",
    "CREATE DATABASE ledger ENCODING 'UTF8' TEMPLATE template0",
)
OPENED_READ_ONLY = RefusalText(
    "ledger.read-only",
    "{name}",
    "the ledger was opened read-only; nothing was changed",
    "sf.Ledger.open(path)",
)
FILE_NOT_WRITABLE = RefusalText(
    "ledger.read-only",
    "{name}",
    "the book cannot be written; {outcome}",
    "make the file and its folder writable",
)

# Files, forks and locks

FILE_MOVED = RefusalText(
    "ledger.moved",
    "{name}",
    "the file was moved or replaced while the book was open; nothing was accepted",
    "ledger = sf.Ledger.open(path)",
)
LOG_REPLACED = RefusalText(
    "ledger.log",
    "{name}",
    (
        "its log, or the index of the log, was deleted or replaced while the book was open; "
        f"{NOTHING_ACCEPTED}. Closing every ledger on this file writes the log's entries to it"
    ),
    "ledger.close(); ledger = sf.Ledger.open(path, head=head)",
)
SECOND_NAME = RefusalText(
    "ledger.names",
    "{name}",
    (
        "the file has a second name, or is mounted by itself: each name would have a log of its "
        f"own, and the budget could be spent twice; {NOTHING_ACCEPTED}"
    ),
    "remove the hard link; mount the folder of the file, not the file",
)
FILE_SYSTEM_SHARED = RefusalText(
    "ledger.locks",
    "{name}",
    (
        "several machines write to this file system, and this machine does not see their locks; "
        f"{NOTHING_ACCEPTED}. A local disk would do, or a server"
    ),
    ON_SERVER,
)
LOCKS_WITHOUT_EFFECT = RefusalText(
    "ledger.locks",
    "{name}",
    (
        "locks on this file system exclude nobody: the budget could be spent twice; "
        f"{NOTHING_ACCEPTED}. A local disk would do, or a server"
    ),
    ON_SERVER,
)
WAL_NOT_SUPPORTED = RefusalText(
    "ledger.storage",
    "PRAGMA journal_mode=WAL",
    "this file system cannot hold a book that several processes write",
    "move the file to a local disk",
)
FORKED_IN_TRANSACTION = RefusalText(
    "ledger.fork",
    "{name}",
    (f"the process was forked in the middle of a transaction on this book; {NOTHING_ACCEPTED}"),
    "multiprocessing.get_context('spawn')",
)
MEMORY_OF_OTHER_PROCESS = RefusalText(
    "ledger.fork",
    "a ledger in memory",
    "another process holds the book: two copies could both be spent",
    ON_DISK,
)

# Versions

SQLITE_TOO_OLD = RefusalText(
    "ledger.sqlite",
    "SQLite {version}",
    "versions before {oldest} can lose a commit when the log is reset",
    "pip install --upgrade apsw",
)
SERVER_TOO_OLD = RefusalText(
    "ledger.server",
    "PostgreSQL",
    "its version is older than {oldest}; nothing was accepted",
    "upgrade the server to PostgreSQL {oldest} or later",
)
PSYCOPG_MISSING = RefusalText(
    "ledger.missing",
    "psycopg",
    "a ledger on PostgreSQL is written by psycopg, which is not installed",
    install_command("postgres"),
)
OLDER_TABLES = RefusalText(
    "ledger.version",
    "schema {version}",
    (
        "this sfumato reads schema {known}, and rewrites an older one only if it is opened for "
        "writing; it was not touched. Keep a copy before"
    ),
    "sf.Ledger.open(path).close()",
)
UNKNOWN_TABLES = RefusalText(
    "ledger.version",
    "schema {version}",
    "this sfumato reads schema {known}; it was not touched",
    "pip install --upgrade sfumato",
)
UPGRADE_NEEDS_OWNER = RefusalText(
    "ledger.version",
    "schema {version}",
    (
        "this sfumato reads schema {known}, and the role may not rewrite the tables; they were "
        "not touched. Keep a copy before"
    ),
    "sf.Ledger.open('postgresql://owner@host/database').close()",
)

# A book that is damaged, cut or replaced

HEAD_NOT_IN_BOOK = RefusalText(
    "ledger.head",
    "entry {number}",
    (
        "the book does not contain the head that was kept: it was cut, rewritten, or is another "
        "or an older copy; nothing was accepted"
    ),
    "print(sf.Ledger.open(path).verify(head))",
)
TOTAL_DIFFERS_FROM_CHAIN = RefusalText(
    "ledger.corrupt",
    "the book",
    "the total of an account differs from the chain; nothing was accepted",
    BACKUP,
)
OPENING_MISSING = RefusalText(
    "ledger.corrupt",
    "the book",
    "the opening entry of a dataset is missing; nothing was accepted",
    BACKUP,
)
BOOK_ID_MISSING = RefusalText(
    "ledger.corrupt",
    "the book",
    "the book has no id, or several; nothing was accepted",
    BACKUP,
)
ENTRY_NUMBER_MISSING = RefusalText(
    "ledger.corrupt",
    "the book",
    "an entry has no number; nothing was accepted",
    BACKUP,
)
ACCOUNT_UNREADABLE = RefusalText(
    "ledger.corrupt",
    "the book",
    "an account cannot be read; nothing was accepted",
    BACKUP,
)
OLDER_BOOK_DAMAGED = RefusalText(
    "ledger.corrupt",
    "a book of an older version",
    "the sums of the entries differ from the stored totals; the book was not touched",
    BACKUP,
)
BOOK_DAMAGED = RefusalText(
    "ledger.corrupt",
    "{name}",
    "the book is damaged; {outcome}",
    BACKUP,
)
OTHER_TABLES = RefusalText(
    "ledger.corrupt",
    "{name}",
    "the tables are not those of a book; {outcome}",
    BACKUP,
)

# Storage

CHANGED_WHILE_READ = RefusalText(
    "ledger.busy",
    "{name}",
    "the book changed while it was read; it was not touched",
    REPEAT,
)
HELD_BY_THREADS = RefusalText(
    "ledger.busy",
    "{name}",
    f"other threads held the book for too long; {NOTHING_ACCEPTED}",
    REPEAT,
)
HELD_BY_WRITER = RefusalText(
    "ledger.busy",
    "{name}",
    "another writer held the book for too long; {outcome}",
    REPEAT,
)
READ_INTERRUPTED = RefusalText(
    "ledger.busy",
    "{name}",
    "the read took too long, or the service is shutting down; {outcome}",
    REPEAT,
)
SERVER_TOO_SLOW = RefusalText(
    "ledger.busy",
    "{name}",
    "the server took too long; {outcome}",
    REPEAT,
)
CONCURRENT_TRANSACTION = RefusalText(
    "ledger.busy",
    "{name}",
    f"another transaction came between; {NOTHING_ACCEPTED}",
    REPEAT,
    Conflict,
)
TRANSACTION_OPEN = RefusalText(
    "ledger.storage",
    "{name}",
    "a transaction is open already; {outcome}",
    "end the open transaction first",
)
DISK_FULL = RefusalText(
    "ledger.full",
    "{name}",
    "the disk is full; {outcome}",
    "make room on the disk, then repeat the call",
)
DISK_FAILED = RefusalText(
    "ledger.io",
    "{name}",
    "reading from or writing to the disk failed; {outcome}",
    "check the disk, then repeat the call",
)
STORAGE_FAILED = RefusalText(
    "ledger.storage",
    "{name}",
    "the storage reported an error; {outcome}",
    "check the storage, then repeat the call",
)
ENTRY_NOT_TAKEN = RefusalText(
    "ledger.storage",
    "{name}",
    "the tables do not accept the entry; {outcome}",
    "print(ledger.verify(head))",
)
SERVER_GONE = RefusalText(
    "ledger.server",
    "{name}",
    "no server answers, the connection broke, or the server does not admit this role; {outcome}",
    "check the server, then repeat the call",
)
COMMIT_UNCONFIRMED = RefusalText(
    "ledger.server",
    "{name}",
    "the server cannot say whether the commit is safe; {outcome}",
    "check the server and its standbys, then repeat the call",
)
ROLE_WITHOUT_RIGHT = RefusalText(
    "ledger.read-only",
    "{name}",
    "the role may not do this; {outcome}",
    "GRANT UPDATE ON sfumato.book TO role; GRANT EXECUTE ON FUNCTION sfumato.enter TO role",
)
ROLE_READS_ONLY = RefusalText(
    "ledger.read-only",
    "{name}",
    "the server, or the role, only reads; {outcome}",
    "connect to the primary server, with a role that may write",
)
STANDBY_READS_ONLY = RefusalText(
    "ledger.read-only",
    "{name}",
    "the server is a standby, which only reads; {outcome}",
    "connect to the primary server",
)
DATABASE_NOT_UTF8 = RefusalText(
    "ledger.storage",
    "PostgreSQL",
    "the database does not use UTF-8; nothing was accepted",
    "CREATE DATABASE ledger ENCODING 'UTF8' TEMPLATE template0",
)
FSYNC_OFF = RefusalText(
    "ledger.storage",
    "PostgreSQL",
    "the server runs with fsync=off: what it commits may be lost; nothing was accepted",
    "ALTER SYSTEM SET fsync = on",
)
