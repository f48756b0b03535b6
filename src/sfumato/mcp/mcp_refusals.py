"""The refusals of `mcp`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# Starting

TOKEN_MISSING = RefusalText(
    "mcp.token",
    "no token",
    "the tools ask a service in somebody's name, and the variable SFUMATO_TOKEN is empty",
    "SFUMATO_TOKEN=$(sfumato token sfumato.toml --name ada --role analyst) sfumato mcp {url}",
)
LIMIT_BELOW_ZERO = RefusalText(
    "mcp.limit",
    "{name}={limit}",
    "a limit on what is spent without asking is 0 or more",
    "{name}=0",
)

# Asking

CONSENT_IMPOSSIBLE = RefusalText(
    "mcp.consent",
    "ε = {epsilon}",
    (
        "a question above ε = {per_question}, or ε = {in_all} in all, needs a person's consent, "
        "and this client cannot ask anybody; nothing was spent"
    ),
    "epsilon={per_question}",
)
CONSENT_DECLINED = RefusalText(
    "mcp.consent",
    "ε = {epsilon}",
    "the person who was asked did not agree; nothing was spent",
    "epsilon={per_question}",
)
TOKEN_NOT_SENT = RefusalText(
    "mcp.token",
    "no Authorization header",
    "over HTTP each request carries the token of the person it works for",
    "Authorization: Bearer sft_0123",
)
ROWS_OUTSIDE = RefusalText(
    "mcp.rows",
    "first_row={first_row}",
    "the first row is a whole number from 0 on",
    "first_row=0",
)

# Claims

CLAIM_UNREADABLE = RefusalText(
    "mcp.claim",
    "the claim",
    "a claim is JSON with dataset, sql, epsilon or within, entry, digest, column, row and value",
    '{{"dataset": "visits", "sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", '
    '"entry": 2, "digest": "24a80af3", "column": "n", "row": {{}}, "value": 20013}}',
)
CLAIM_NOT_PAID = RefusalText(
    "mcp.claim",
    "{dataset}",
    "this token has not paid for such an answer: to check the number would be a new charge",
    "sfumato verify-claim claim.json {url}",
)
