"""The refusals of `client`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText, install_command

CONNECT = 'sf.connect("http://127.0.0.1:8000", token)'
AS_SQL = 'table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.1)'

# The connection

LIBRARY_MISSING = RefusalText(
    "client.missing",
    "connect(…)",
    "{library} is not installed",
    install_command("tables,server"),
)
NOT_AN_ADDRESS = RefusalText(
    "client.url",
    "{url!s:.80}",
    "this is not the address of a server",
    CONNECT,
)
PLAIN_HTTP = RefusalText(
    "client.url",
    "{url!s:.80}",
    (
        "over plain HTTP others can read the token and the answers on the way; insecure=True "
        "allows it, for a network of your own"
    ),
    'sf.connect("https://{host}", token)',
)
NOT_A_TOKEN = RefusalText(
    "client.token",
    "token=…",
    "a token is the text that `sfumato token` printed",
    CONNECT,
)
UNREACHABLE = RefusalText(
    "client.unreachable",
    "{url}",
    "the server did not answer {attempts} attempts",
    "sfumato serve sfumato.toml",
)
RELEASE_UNANSWERED = RefusalText(
    "client.unreachable",
    "{url}",
    (
        "the server did not answer; it may have charged the question, and charges it only once "
        "if you repeat it with the same key"
    ),
    "repeat the call with key={key!r}",
)
NOT_A_SERVER = RefusalText(
    "client.reply",
    "{url}",
    "this is not a reply of a sfumato server; `sfumato serve` prints its address",
    CONNECT,
)
STATUS_UNKNOWN = RefusalText(
    "client.reply",
    "{url}: status {status}",
    "this is not a reply of a sfumato server; `sfumato serve` prints its address",
    CONNECT,
)
REPLY_UNREADABLE = RefusalText(
    "client.reply",
    "the {what}",
    "this version of sfumato cannot read it; the server has another version",
    "pip install --upgrade sfumato",
)
DECLARATION_UNREADABLE = RefusalText(
    "client.reply",
    "{dataset}",
    "this version of sfumato cannot read its declaration; the server has another version",
    "pip install --upgrade sfumato",
)

# Datasets and tables

UNKNOWN_DATASET = RefusalText(
    "client.dataset",
    "{dataset!r:.60}",
    "the datasets of this token are: {datasets}",
    "dataset={first!r}",
)
UNKNOWN_TABLE = RefusalText(
    "table.name",
    "{name!r:.60}",
    "the tables are {tables}",
    "db[{first!r:.60}]",
)
SHARES_NOT_VISIBLE = RefusalText(
    "client.role",
    "ledger.shares",
    "only owners and auditors see what others have spent",
    "ledger.share",
)

# Questions

NOT_A_QUERY_OF_TABLE = RefusalText(
    "plan.query",
    "{type}",
    "this is not a query of this table",
    "{table}.aggregate(n=sf.count())",
)
NOT_A_QUERY_OF_TABLES = RefusalText(
    "plan.query",
    "{type}",
    "this is not a query of these tables",
    "db[{first!r}].aggregate(n=sf.count())",
)
PROMISE_NOT_ONE = RefusalText(
    "plan.promise",
    "{stated}",
    "a question needs exactly one of epsilon, within and promise",
    "epsilon=0.1",
)
PROMISE_NOT_GUARANTEE = RefusalText(
    "plan.promise",
    "promise={type}",
    "the client sends a promise as a Guarantee",
    "promise=sf.Pure(0.5)",
)
PARAMETER_NOT_JSON = RefusalText(
    "client.option",
    "parameters: {type}",
    (
        "a parameter is sent as JSON: a text, a whole number of 64 bits, a finite float, a "
        "truth value or None; a date is sent as text"
    ),
    "parameters=[str(value)]",
)
SHARE_NOT_TAKEN = RefusalText(
    "client.option",
    "share={value!s:.40}",
    "the token decides which share of the budget pays",
    "share=None",
)
FRESH_NOT_TAKEN = RefusalText(
    "client.option",
    "fresh={value!s:.40}",
    (
        "a server returns the stored answer to the same question, at no cost to the dataset; "
        "another epsilon makes a new question"
    ),
    "fresh=False",
)
SIMULTANEOUS_NOT_TAKEN = RefusalText(
    "client.option",
    "simultaneous={value!s:.40}",
    "the intervals of a server hold for each cell by itself",
    "confidence=0.99",
)
LEARN_NOT_TAKEN = RefusalText(
    "client.option",
    "learn={value!s:.40}",
    "a server always learns the bounds and limits that a question needs",
    "learn=True",
)
LEARN_FOR_NOT_TAKEN = RefusalText(
    "client.option",
    "learn_for={value!s:.40}",
    "a server learns the limits that are best for the question that needs them",
    "learn_for='question'",
)
LEARN_ALONE = RefusalText(
    "client.option",
    "learn(…)",
    (
        "the server learns the limits that a question needs with its first release; plan shows "
        "what learning will cost"
    ),
    "table.plan(query, epsilon=1)",
)
SEVERAL_AT_ONCE = RefusalText(
    "client.option",
    "release_all(…)",
    "a server takes one question at a time",
    "[table.release(query, epsilon=0.1) for query in queries]",
)

# Queries that SQL cannot say

DECIMAL_CONSTANT = RefusalText(
    "client.spelling",
    "{value}",
    "SQL has no decimal constants: a number in a text is an integer or a double",
    "float({value})",
)
INFINITE_CONSTANT = RefusalText(
    "client.spelling",
    "{value}",
    "SQL has no text for a number that is not finite",
    "sf.col('x').is_finite()",
)
NUMBER_NOT_DECIMAL = RefusalText(
    "client.spelling",
    "{number!s:.60}",
    "this number has infinitely many decimals, and SQL has decimal numbers only",
    "0.25",
)
TYPE_WITHOUT_NAME = RefusalText(
    "client.spelling",
    "cast({type})",
    "SQL has no name for this type here; it has {types}",
    "cast('float64')",
)
INTERVAL_NOT_WHOLE = RefusalText(
    "client.spelling",
    "date_add({amount!r:.40})",
    "an interval is a whole number of units",
    "date_add(3, 'day')",
)
NOT_CONSTANT = RefusalText(
    "client.spelling",
    "{text:.60}",
    "SQL needs a constant here",
    "use a constant",
)
JOIN_NOT_PLAIN = RefusalText(
    "client.spelling",
    "{step:.80}",
    "a join in SQL follows conditions only, and it joins on equal columns",
    AS_SQL,
)
JOIN_ON_EXPRESSION = RefusalText(
    "client.spelling",
    "{left:.40} = {right:.40}",
    "a join in SQL is on columns",
    AS_SQL,
)
GROUPS_NOT_DECLARED = RefusalText(
    "client.spelling",
    "group_by({key:.60}=[…])",
    "the owner declares the public groups: SQL has no list of groups",
    "group_by('city')",
)
QUANTILE_NAME = RefusalText(
    "client.spelling",
    "{name}=…",
    "one of several quantiles is named after its probability",
    "aggregate({name}=sf.quantiles('x', [0.25, 0.5]))",
)
QUANTILE_INTERVAL = RefusalText(
    "client.spelling",
    "{aggregate:.80}",
    "in SQL a quantile has an interval at 95 %",
    "sf.quantile('x', 0.5)",
)
UNITS_ARE_ROWS = RefusalText(
    "client.spelling",
    "count_units()",
    "each row is taken as a different person: people are counted as rows are",
    "sf.count()",
)
TEXT_TOO_LONG = RefusalText(
    "client.spelling",
    "{length} characters",
    "a question to a server has at most {most} characters",
    "use fewer columns, or shorter lists",
)
MEANING_DIFFERS = RefusalText(
    "client.spelling",
    "{sql:.120}",
    "this SQL does not mean exactly the same as the query",
    AS_SQL,
)
