"""The refusals of `plots`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

PLOTS_EMPTY_1 = RefusalText(
    "plots.empty",
    "spending(())",
    "the account has no entry to draw",
    "course(ledger)",
)
PLOTS_MISSING_1 = RefusalText(
    "plots.missing",
    "matplotlib",
    "plots need matplotlib, which is not installed",
    "pip install 'sfumato[plots]'",
)
