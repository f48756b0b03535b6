"""The refusals of `plots`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText, install_command

MATPLOTLIB_MISSING = RefusalText(
    "plots.missing",
    "matplotlib",
    "plots need matplotlib, which is not installed",
    install_command("plots"),
)
ACCOUNT_WITHOUT_ENTRIES = RefusalText(
    "plots.empty",
    "spending(())",
    "the account has no entry to draw",
    "spending(course(ledger), title='Spending')",
)
