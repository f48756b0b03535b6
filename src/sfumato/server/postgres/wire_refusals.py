"""The refusals of the PostgreSQL wire. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

QUESTION = "SELECT COUNT(*) AS n FROM visits"

# Connections

PASSWORD_WRONG = RefusalText(
    "postgres.password",
    "the name and its token",
    "no valid token of this name fits; a token made before the service spoke this protocol has no "
    "verifier and serves HTTP alone",
    "sfumato token sfumato.toml --name ada --role analyst",
)
TOKEN_ENDED = RefusalText(
    "postgres.token",
    "the session's token",
    "it has expired, or the owner has revoked it",
    "connect with a new token from the owner",
)
TLS_NEEDED = RefusalText(
    "postgres.tls",
    "the connection",
    "this service has a certificate and takes encrypted connections only",
    "sslmode=require",
)
DATABASE_UNKNOWN = RefusalText(
    "postgres.database",
    "the database",
    "a database here is a dataset, and this token sees none of this name",
    "connect to the name of a dataset that the token may see",
)
VERSION_UNKNOWN = RefusalText(
    "postgres.version",
    "the protocol",
    "this service speaks version 3 of the PostgreSQL protocol",
    "connect with a client of PostgreSQL 7.4 or later",
)
MESSAGE_WRONG = RefusalText(
    "postgres.message",
    "the message",
    "it is none of the PostgreSQL protocol at this point, or larger than 64 KiB",
    "connect again",
)
IDLE_TOO_LONG = RefusalText(
    "postgres.idle",
    "the session",
    "it sent nothing for {minutes} minutes",
    "connect again",
)
TOO_MANY_CONNECTIONS = RefusalText(
    "postgres.full",
    "the service",
    "too many connections, or too many new ones in a second",
    "use fewer connections at a time",
)
SERVICE_STOPS = RefusalText(
    "postgres.stopping",
    "the service",
    "it is stopping",
    "connect again, later",
)
CANCELLED = RefusalText(
    "postgres.cancelled",
    "the statement",
    "the client cancelled it; what was charged for it stays charged, and its answer is stored",
    "send the same statement again: it is not charged twice",
)

# Statements

TOO_MANY_STATEMENTS = RefusalText(
    "postgres.syntax",
    "the statement",
    "a prepared statement is one statement",
    QUESTION,
)
STATEMENT_UNKNOWN = RefusalText(
    "postgres.statement",
    "{verb:.30}",
    "the service answers SELECT and EXPLAIN, and keeps settings of a session: it writes nothing",
    QUESTION,
)
COMMAND_WRONG = RefusalText(
    "postgres.syntax",
    "{verb:.30}",
    "this is not how the command is written here",
    "{form}",
)
NAME_UNKNOWN = RefusalText(
    "postgres.name",
    "{what}",
    "there is none of this name in this session",
    "prepare it first",
)
CATALOG_UNSUPPORTED = RefusalText(
    "postgres.catalog",
    "the catalogue",
    "this statement asks for something that the catalogue does not have: it holds the declared "
    "tables and columns, and no data",
    "SELECT table_name, column_name, data_type FROM information_schema.columns",
)

# Parameters

PARAMETER_WRONG = RefusalText(
    "postgres.parameter",
    "parameter ${number}",
    "its value is none of its type, or its type is not supported; types are int2, int4, int8, "
    "float4, float8, bool, text, varchar, date, timestamp, uuid, and numeric as text",
    "send it as text",
)
PARAMETERS_MISSING = RefusalText(
    "postgres.parameter",
    "Bind",
    "the statement has {expected} parameters, and {count} came",
    "send one value for each parameter",
)

# Settings

AMOUNT_MISSING = RefusalText(
    "postgres.amount",
    "the question",
    "nothing says how much privacy it may cost, or how exact it has to be",
    "SET sfumato.epsilon = 0.1",
)
SETTING_UNKNOWN = RefusalText(
    "postgres.setting",
    "{name:.60}",
    "there is no such setting; ours are {names}",
    "SET sfumato.epsilon = 0.1",
)
SETTING_NOT_NUMBER = RefusalText(
    "postgres.setting",
    "{name}",
    "its value is a number of zero or more, such as 0.1 or 1/3; within takes one for each column, "
    "too: 'n=25, m=0.5'",
    "SET sfumato.epsilon = 0.1",
)
SETTING_NOT_SWITCH = RefusalText(
    "postgres.setting",
    "{name}",
    "its value is on or off",
    "SET sfumato.intervals = on",
)
SETTING_NOT_KEY = RefusalText(
    "postgres.setting",
    "{name}",
    "its value has at most 32 of the characters A-Z, a-z, 0-9, _ and -",
    "SET sfumato.key = 'second-look'",
)
HINT_WRONG = RefusalText(
    "postgres.setting",
    "the comment",
    "a hint is a list of settings: names, equal signs and values",
    "/* sfumato: epsilon = 0.1 */ SELECT COUNT(*) AS n FROM visits",
)
ENCODING_UNKNOWN = RefusalText(
    "postgres.setting",
    "client_encoding",
    "the service sends and reads UTF-8 only",
    "SET client_encoding = 'UTF8'",
)
NEW_CHARGE = RefusalText(
    "postgres.charge",
    "the question",
    "its answer was not stored; what was charged for it stays charged, and asking again is a new "
    "charge, which a new key allows",
    "SET sfumato.key = 'again-1'",
)
