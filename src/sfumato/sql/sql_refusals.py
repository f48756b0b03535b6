"""The refusals of `sql`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

SQL_TEXT_1 = RefusalText(
    "sql.text",
    "{type}",
    "a question has to be a text",
    "{example}",
)
SQL_TEXT_2 = RefusalText(
    "sql.text",
    "{text_count} characters",
    "a question has at most {LONGEST} characters",
    "long lists of keys as keys= in protect()",
)
SQL_TEXT_3 = RefusalText(
    "sql.text",
    "U+{odd:04X}",
    "a question has printable characters alone",
    "{rewrite}",
)
SQL_TEXT_4 = RefusalText(
    "sql.text",
    "an empty text",
    "the text has no question",
    "{example}",
)
SQL_UNSUPPORTED_1 = RefusalText(
    "sql.unsupported",
    "this text",
    "this form of SQL is not supported",
    "{rows}",
)
STAGE_AGGREGATE_1 = RefusalText(
    "stage.aggregate",
    "{items_count} columns",
    "an answer has at most {MOST_COLUMNS} columns",
    "at most {MOST_COLUMNS} columns in each of several queries",
)
