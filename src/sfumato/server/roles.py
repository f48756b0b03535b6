"""Roles, and what each may do.

*owner*     declares datasets; sees budgets, the log and overruns; verifies the ledger.
*analyst*   plans and releases; sees its own part of the log.
*auditor*   reads cards and the ledger, verifies it; releases nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["owner", "analyst", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)
ALL: frozenset[str] = frozenset(ROLES)
ANALYST = frozenset({"analyst"})
OWNER = frozenset({"owner"})
LOOKS = frozenset({"owner", "auditor"})

MAY: dict[tuple[str, str], frozenset[str]] = {
    ("GET", "/api/health"): frozenset(),
    ("GET", "/api/me"): ALL,
    ("GET", "/api/datasets"): ALL,
    ("GET", "/api/datasets/{dataset}"): ALL,
    ("POST", "/api/datasets/{dataset}/plan"): ANALYST,
    ("POST", "/api/datasets/{dataset}/release"): ANALYST,
    ("GET", "/api/datasets/{dataset}/history"): ALL,
    ("GET", "/api/datasets/{dataset}/budget"): ALL,
    ("GET", "/api/datasets/{dataset}/cards/{number}"): ALL,
    ("GET", "/api/datasets/{dataset}/verify"): LOOKS,
    ("GET", "/api/datasets/{dataset}/overruns"): OWNER,
}
"""Every endpoint and the roles that may call it; empty: it needs no token."""


@dataclass(frozen=True, slots=True)
class Asker:
    """The holder of a valid token."""

    name: str
    role: Role
    datasets: frozenset[str] | None  # None: all of them
    expires: int  # seconds since 1970

    def sees(self, dataset: str) -> bool:
        """Whether this token may see a dataset."""
        return self.datasets is None or dataset in self.datasets
