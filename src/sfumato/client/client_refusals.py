"""The refusals of `client`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

CLIENT_DATASET_1 = RefusalText(
    "client.dataset",
    "{dataset!r:.60}",
    "the datasets of this token are: {there}",
    "connection[{value!r}]",
)
CLIENT_MISSING_1 = RefusalText(
    "client.missing",
    "connect(…)",
    "{library} is not installed",
    "pip install 'sfumato[tables,server]'",
)
CLIENT_OPTION_1 = RefusalText(
    "client.option",
    "parameters: {type}",
    (
        "a parameter is sent as JSON: a text, a whole number of 64 bits, a finite float, a "
        "truth value or None"
    ),
    "a date as text, compared with a column of dates: day >= $1",
)
CLIENT_OPTION_2 = RefusalText(
    "client.option",
    "{name}={value!s:.40}",
    "{reason}",
    "{rewrite}",
)
CLIENT_OPTION_3 = RefusalText(
    "client.option",
    "learn(…)",
    "the server learns the limits that a question needs with its first release",
    "sql or release; plan shows what learning will cost",
)
CLIENT_OPTION_4 = RefusalText(
    "client.option",
    "release_all(…)",
    "a server takes one question at a time",
    "release for each query, or one query with several columns",
)
CLIENT_REPLY_1 = RefusalText(
    "client.reply",
    "{url}",
    "this is not a reply of a sfumato server",
    "the address that `sfumato serve` prints",
)
CLIENT_REPLY_2 = RefusalText(
    "client.reply",
    "{what}",
    "{reason}",
    "the same version of sfumato on both sides",
)
CLIENT_REPLY_3 = RefusalText(
    "client.reply",
    "{url}: status {status}",
    "this is not a reply of a sfumato server",
    "the address that `sfumato serve` prints",
)
CLIENT_ROLE_1 = RefusalText(
    "client.role",
    "ledger.shares",
    "only owners and auditors see what others have spent",
    "ledger.share",
)
CLIENT_SPELLING_1 = RefusalText(
    "client.spelling",
    "{place}",
    "{reason}",
    "{rewrite}",
)
CLIENT_TOKEN_1 = RefusalText(
    "client.token",
    "token=…",
    "a token is the text that `sfumato token` printed",
    'sf.connect("http://127.0.0.1:8000", token)',
)
CLIENT_UNREACHABLE_1 = RefusalText(
    "client.unreachable",
    "{url}",
    (
        "the server did not answer; it may have charged the question, and charges it only once "
        "if you repeat it with the same key"
    ),
    "the same call with key={key!r}",
)
CLIENT_UNREACHABLE_2 = RefusalText(
    "client.unreachable",
    "{url}",
    "the server did not answer {value} attempts",
    "the address that `sfumato serve` prints; is it running?",
)
CLIENT_URL_1 = RefusalText(
    "client.url",
    "{url!s:.80}",
    "this is not the address of a server",
    "http://127.0.0.1:8000 or https://dp.example.org",
)
CLIENT_URL_2 = RefusalText(
    "client.url",
    "{url!s:.80}",
    "over plain HTTP others can read the token and the answers on the way",
    "https://{hostname}, or insecure=True if the network is your own",
)
PLAN_PROMISE_1 = RefusalText(
    "plan.promise",
    "{place}",
    "a question needs exactly one of epsilon, within and promise",
    "epsilon=0.1, or within=25, or promise=sf.Pure(0.5)",
)
PLAN_PROMISE_2 = RefusalText(
    "plan.promise",
    "promise={type}",
    "a promise is a Guarantee",
    "promise=sf.Pure(0.5), or epsilon=0.5",
)
PLAN_QUERY_1 = RefusalText(
    "plan.query",
    "{type}",
    "this is not a query of this table",
    "{name}.aggregate(n=sf.count())",
)
PLAN_QUERY_2 = RefusalText(
    "plan.query",
    "{type}",
    "this is not a query of these tables",
    "db[{next!r}].aggregate(n=sf.count())",
)
TABLE_NAME_1 = RefusalText(
    "table.name",
    "{name!r:.60}",
    "the tables are {tables}",
    "db[{next!r:.60}]",
)
