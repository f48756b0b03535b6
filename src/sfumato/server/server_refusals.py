"""The refusals of `server`, and the texts of the problems that it sends. Names in braces are
fields.
"""

from __future__ import annotations

from ..errors import RefusalText

QUESTION = '{{"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}}'
DATASET = 'datasets.visits = {{ source = "visits.parquet", budget = 1 }}'
NEW_KEY = "Idempotency-Key: $(uuidgen)"
SAME_KEY = "send the same request with the same Idempotency-Key, later"

# Configuration, the file as a whole

CONFIG_MISSING = RefusalText(
    "server.config",
    "{name}",
    "there is no such file",
    "sfumato serve --demo",
)
CONFIG_UNREADABLE = RefusalText(
    "server.config",
    "{name}",
    "this file cannot be read as text",
    "sfumato serve sfumato.toml",
)
CONFIG_NOT_TOML = RefusalText(
    "server.config",
    "the file, {where}",
    "the text stops being TOML here",
    DATASET,
)
DATASETS_MISSING = RefusalText(
    "server.config",
    "[datasets]",
    "a service has [server] and at least one [datasets.NAME]",
    DATASET,
)
KEY_MISSPELT = RefusalText(
    "server.config",
    "{where} {key:.60}",
    "this key is unknown; the keys are {keys}",
    "write {near} instead of {key:.60}",
)
UNKNOWN_KEY = RefusalText(
    "server.config",
    "{where} {key:.60}",
    "this key is unknown; the keys are {keys}",
    "delete the key {key:.60}",
)
PORT_TAKEN = RefusalText(
    "server.port",
    "[server] host, port",
    "this machine cannot listen at {host} on port {port}: another program does, or it may not",
    "port = {free}",
)
PORT_SHARED = RefusalText(
    "server.port",
    "[server] port, postgres",
    "both are {port}: HTTP and PostgreSQL clients need a port each",
    "postgres = {free}",
)
KEY_WITHOUT_CERTIFICATE = RefusalText(
    "server.config",
    "[server] tls_cert, tls_key",
    "a certificate and its key go together",
    'server = {{ tls_cert = "server.crt", tls_key = "server.key" }}',
)

# Configuration, values

NOT_TEXT = RefusalText(
    "server.config",
    "{where}",
    "the value must be text",
    '"visits.parquet"',
)
NOT_AN_INTEGER = RefusalText(
    "server.config",
    "{where}",
    "the value must be an integer from {low} to {high}",
    "{low}",
)
NOT_SECONDS = RefusalText(
    "server.config",
    "{where}",
    "the value must be a number of seconds from {low:g} to {high:g}",
    "{low:g}",
)
NOT_A_SIZE = RefusalText(
    "server.config",
    "{where}",
    "the value must be a size in MiB or GiB, at least {least} MiB",
    '"{least} MiB"',
)
DEADLINES_NOT_SORTED = RefusalText(
    "server.config",
    "{where}",
    "deadlines are classes of seconds, the shortest first",
    "deadlines = [1, 4, 16]",
)
RATE_NOT_TABLE = RefusalText(
    "server.config",
    "[server] rate",
    "rate takes a number for token and a number for address",
    "rate = {{ token = 50, address = 100 }}",
)
RATE_NOT_POSITIVE = RefusalText(
    "server.config",
    "[server] rate.{name}",
    "this is a number of requests a second, above 0 and at most {most}",
    "rate = {{ {name} = 50 }}",
)

# Configuration, datasets

DATASET_NAME_WRONG = RefusalText(
    "server.config",
    "{where}",
    "a dataset has a name of up to 64 letters, digits, - and _",
    DATASET,
)
DATASET_INCOMPLETE = RefusalText(
    "server.config",
    "{where}",
    "a dataset has a source and a budget",
    DATASET,
)
BUDGET_WRONG = RefusalText(
    "server.config",
    "{where}",
    "a budget is a number, or a notion with its numbers",
    '{{ notion = "Approx", epsilon = "1", delta = "1e-6" }}',
)
ANALYSTS_WRONG = RefusalText(
    "server.config",
    "{where} analysts",
    "analysts takes budgets, by the names of analysts",
    "analysts = {{ ada = 0.3 }}",
)
DEFAULTS_WRONG = RefusalText(
    "server.config",
    "{where} defaults, analyst_defaults",
    (
        "these are settings of the PostgreSQL wire: epsilon or within, delta, confidence, "
        "intervals; analyst_defaults has them by name"
    ),
    "defaults = {{ epsilon = 0.1, intervals = true }}",
)
OVERRUNS_WRONG = RefusalText(
    "server.config",
    "{where} overruns",
    "overruns takes numbers of overruns, by the names of analysts",
    "overruns = {{ ada = 10 }}",
)
DECLARED_TWICE = RefusalText(
    "server.config",
    "{where} declaration",
    "the declaration file replaces the other keys of the declaration",
    "delete these keys: {keys}",
)
DECLARATION_UNREADABLE = RefusalText(
    "server.config",
    "declaration {name}",
    "this file cannot be read as text",
    'Path("visits.toml").write_text(declaration.to_toml())',
)
ACCOUNT_SHARED = RefusalText(
    "server.config",
    "[datasets.{dataset}] name",
    ("its account in the ledger would be that of {owner}, with its budget and its stored answers"),
    'ledger = "{dataset}.ledger"',
)
SOURCE_SHARED = RefusalText(
    "server.config",
    "[datasets.{dataset}] source",
    (
        "its data is also that of {owner}: two budgets for the same people would add up unseen. "
        "One dataset can have a budget for each analyst"
    ),
    "datasets.{owner}.analysts = {{ ada = 0.3 }}",
)
PUBLIC_WRONG = RefusalText(
    "server.config",
    "{where} public",
    "public takes a file for each public table, by its name",
    'public = {{ cities = "cities.parquet" }}',
)
PUBLIC_DATA_PROTECTED = RefusalText(
    "server.config",
    "[datasets.{dataset}] public",
    "it is protected as the data of {owner}: a public table is shown to everybody",
    "name a file that holds nothing about people",
)

# Configuration, certificates

TLS_FILE_UNREADABLE = RefusalText(
    "server.config",
    "[server] {name} = {file!r:.80}",
    "this file does not exist, or cannot be read",
    "name a file that this user may read",
)
CERTIFICATE_NOT_PEM = RefusalText(
    "server.config",
    "[server] tls_cert = {file!r:.80}",
    "this is not a certificate in PEM form",
    "openssl x509 -inform DER -in {file} -out server.pem",
)
KEY_NOT_PEM = RefusalText(
    "server.config",
    "[server] tls_key = {file!r:.80}",
    "this is not a key in PEM form",
    "openssl pkey -inform DER -in {file} -out server.key.pem",
)
KEY_WITH_PASSPHRASE = RefusalText(
    "server.config",
    "[server] tls_key = {file!r:.80}",
    "the key has a passphrase, and the service cannot ask for it",
    "openssl pkey -in {file} -out open.key",
)
KEY_OF_OTHER_CERTIFICATE = RefusalText(
    "server.config",
    "[server] tls_key = {file!r:.80}",
    "this is the key of another certificate",
    "name the key that the certificate was made with",
)

# Tokens

HOLDER_NAME_WRONG = RefusalText(
    "server.name",
    "{name!r:.60}",
    "a name has up to 64 letters, digits and . _ @ -",
    "--name ada",
)
TOKEN_DATASET_WRONG = RefusalText(
    "server.name",
    "datasets",
    "a dataset is named as in the configuration",
    "--dataset visits",
)
UNKNOWN_ROLE = RefusalText(
    "server.role",
    "{role!r:.60}",
    "the roles are {roles}",
    "--role analyst",
)
DAYS_OUT_OF_RANGE = RefusalText(
    "server.days",
    "{days}",
    "a token is valid for 1 to {most} days",
    "--days 90",
)

# The ledger and the records of the service

LEDGER_BEHIND_RECORDS = RefusalText(
    "ledger.head",
    "the ledger of {dataset!r:.60}",
    (
        "the service has answered up to entry {number}, but the ledger does not contain that "
        "entry: it is an older copy, another ledger, or gone"
    ),
    (
        "put the latest ledger back; if it is lost, follow Backup on the ledger page, then set "
        'tokens = "tokens-2.db"'
    ),
)
RECORDS_FOREIGN = RefusalText(
    "server.records",
    "[server] tokens",
    (
        "this file or database schema does not hold the records of a sfumato service; it was "
        "not touched"
    ),
    'tokens = "tokens.db"',
)
RECORDS_NEWER = RefusalText(
    "server.records",
    "version {version}",
    "this sfumato knows version {known} of a service's records; they were not touched",
    "pip install --upgrade sfumato",
)
RECORDS_UNKNOWN = RefusalText(
    "server.records",
    "version {version}",
    "this sfumato knows version {known} of a service's records; they were not touched",
    "put the file back from a backup",
)
RECORDS_FAILED = RefusalText(
    "server.storage",
    "the service's own records",
    "they cannot be read or written",
    "check the disk or the database",
)
RECORDS_WITH_SECOND_NAME = RefusalText(
    "server.storage",
    "the service's own records",
    "their file has a second name, or is mounted by itself: each name would have a log of its own",
    "remove the hard link; mount the folder of the file, not the file",
)
RECORDS_WITHOUT_LOCKS = RefusalText(
    "server.storage",
    "the service's own records",
    "locks on the file system of their file do not exclude other machines or processes",
    'tokens = "postgresql://service@db.example/records"',
)
RECORDS_MOVED = RefusalText(
    "server.storage",
    "the service's own records",
    "their file or its log was moved, deleted or replaced while the service was running",
    "put the file back, then start the service again",
)

# Questions

PROMISE_INCOMPLETE = RefusalText(
    "plan.promise",
    "promise",
    "a notion comes with its own numbers",
    '{{"notion": "Pure", "epsilon": "0.5"}}',
)
PLAN_NOT_RELEASED = RefusalText(
    "server.explain",
    "EXPLAIN PRIVACY",
    "this is a plan, and costs nothing",
    "POST /api/datasets/{dataset}/plan",
)
COST_TOO_SMALL = RefusalText(
    "server.least",
    "the cost",
    (
        "a release uses at least 1/{releases} of the dataset's budget here, and this one would "
        "use {part:.3g}; nothing was read, nothing was charged"
    ),
    "{enough}",
)
TOO_MANY_COLUMNS = RefusalText(
    "server.complex",
    "{count} columns, keys and tables separated by commas",
    "a question has at most {most} of them here",
    "ask several questions",
)
TOO_MANY_SELECTS = RefusalText(
    "server.complex",
    "{count} SELECTs",
    "a question has at most {most} of them here",
    "use fewer sub-queries and WITH parts",
)
TOO_MANY_BRANCHES = RefusalText(
    "server.complex",
    "{count} WHEN branches",
    "a question has at most {most} of them here",
    "use fewer branches, or BETWEEN and IN in their conditions",
)
LIST_TOO_LONG = RefusalText(
    "server.complex",
    "{count} values in one list",
    "a list has at most {most} of them here",
    "x BETWEEN 1 AND 2000",
)
TOO_MANY_QUANTILES = RefusalText(
    "server.complex",
    "{count} quantiles in one list",
    "a list has at most {most} of them here",
    "[0.25, 0.5, 0.75]",
)
REPLY_TOO_LARGE = RefusalText(
    "server.cells",
    "{groups} groups",
    "its reply may take {bytes} bytes, and a reply has at most {most} here (`answer_bytes`)",
    "use fewer keys, bins, quantiles or columns",
)
WORK_TOO_LARGE = RefusalText(
    "server.work",
    "this question",
    (
        "it takes {operations:,} operations for each row, and the longest deadline here has time "
        "for {most:,}; one operation on a text counts 64"
    ),
    "use fewer text functions, or ask several questions",
)
STORED_REPLIES_FULL = RefusalText(
    "server.stored",
    "the token's name",
    (
        "the replies kept for it take {used} of {most} bytes (`stored_per_analyst`), and this "
        "one may take {needed}; nothing was charged. The service deletes replies after {days} days"
    ),
    "ask for fewer groups or columns; the owner may allow more",
)
KEY_EXPIRED = RefusalText(
    "server.void",
    "Idempotency-Key",
    (
        "it was used so long ago that its reply is not kept any more; nothing was charged now. A "
        "new key is a new charge, unless the ledger has the answer"
    ),
    NEW_KEY,
)

# Problems about who asks, and for what

ADDRESS_UNKNOWN = RefusalText(
    "server.unknown",
    "the address",
    "nothing exists at this address for this token",
    "GET /api/datasets",
)
TOKEN_INVALID = RefusalText(
    "server.token",
    "Authorization",
    "a valid token is needed; `sfumato token` creates one",
    "Authorization: Bearer TOKEN",
)
ROLE_WITHOUT_RIGHT = RefusalText(
    "server.role",
    "the token",
    "its role may not do this",
    "use a token of another role",
)
METHOD_WRONG = RefusalText(
    "server.method",
    "the method",
    "this address does not support it",
    "{allowed}",
)
MEDIA_NOT_JSON = RefusalText(
    "server.media",
    "Content-Type",
    "a question is application/json",
    "Content-Type: application/json",
)
ACCEPT_WRONG = RefusalText(
    "server.accept",
    "Accept",
    "the reply has none of these media types",
    "Accept: application/json",
)

# Problems with the form of a request

KEY_WRONG = RefusalText(
    "server.body",
    "Idempotency-Key",
    "a release has a key of 1 to 64 letters, digits, - and _",
    NEW_KEY,
)
PARAMETER_WRONG = RefusalText(
    "server.body",
    "{name}",
    "the value must be one integer from {low} to {high}",
    "{name}={default}",
)
HEAD_WRONG = RefusalText(
    "server.body",
    "head",
    "this is not the head of a ledger: the line at the end of a check, book:number:digest",
    "str(ledger.head)",
)
BODY_TOO_DEEP = RefusalText(
    "server.body",
    "the body",
    "it is nested deeper than {most}",
    QUESTION,
)
BODY_NOT_UTF8 = RefusalText(
    "server.body",
    "the body",
    "it is not UTF-8",
    QUESTION,
)
FIELD_WRONG = RefusalText(
    "server.body",
    "{field}",
    "{fault}",
    QUESTION,
)
BODY_TOO_LARGE = RefusalText(
    "server.large",
    "the body",
    "it is larger than {most} bytes",
    "send a shorter question",
)
BODY_TOO_SLOW = RefusalText(
    "server.slow",
    "the body",
    "it did not come within {seconds:g} seconds",
    "send the body at once",
)
ADDRESS_TOO_LONG = RefusalText(
    "server.long",
    "the address",
    "it is longer than {most} bytes",
    "send a shorter address",
)
HEADERS_TOO_LARGE = RefusalText(
    "server.headers",
    "the headers",
    "at most {most} headers of {bytes} bytes together",
    "send fewer headers",
)
HEADER_TWICE = RefusalText(
    "server.ambiguous",
    "the headers",
    (
        "a header occurs twice, or two headers give the length of the body: a proxy may read "
        "the request differently"
    ),
    (
        "send Authorization, Content-Length, Content-Type, Host and Idempotency-Key once each, "
        "and no Transfer-Encoding beside a Content-Length"
    ),
)

# Problems with keys that were used before

KEY_OF_OTHER_QUESTION = RefusalText(
    "server.key",
    "Idempotency-Key",
    "this key was used for another question",
    NEW_KEY,
)
REQUEST_RUNNING = RefusalText(
    "server.running",
    "Idempotency-Key",
    "this request is being answered",
    SAME_KEY,
)
ANSWER_LOST = RefusalText(
    "server.lost",
    "Idempotency-Key",
    (
        "the answer was not stored under it; if it was charged, that stays charged. A new key is "
        "a new charge, unless the ledger has the answer"
    ),
    NEW_KEY,
)

# Problems of time and load

DEADLINE_PASSED = RefusalText(
    "server.deadline",
    "the question",
    (
        "the service could not make the answer by its deadline; what was charged for it stays "
        "charged, and asking again is a new charge"
    ),
    "ask for fewer columns or groups at once; the owner may set a longer deadline",
)
SERVICE_BUSY = RefusalText(
    "server.busy",
    "the service",
    "it cannot take this request now; nothing was charged",
    "send the same request again, later",
)
SERVICE_BROKE = RefusalText(
    "server.internal",
    "the service",
    "something broke; what was charged stays charged",
    SAME_KEY,
)
TOO_MANY_OVERRUNS = RefusalText(
    "server.overruns",
    "the token's name",
    "too many of its questions were not answered by their deadlines",
    "ask the owner to allow more",
)
PLANNING_TIME_USED = RefusalText(
    "server.planning",
    "the token's name",
    "its questions have used up their processor time for planning",
    "ask simpler questions, or wait",
)
TOO_MANY_WAITING = RefusalText(
    "server.waiting",
    "the token's name",
    "too many of its requests are waiting already; nothing was charged",
    "send fewer requests at once",
)
TOO_MANY_REQUESTS = RefusalText(
    "server.rate",
    "the service",
    "too many requests",
    "send fewer requests a second",
)
