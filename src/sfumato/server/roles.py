"""Who asks, and what each role may do.

*owner*     declares; sees budgets, the log, overruns; verifies.
*analyst*   asks: plans and releases; sees the own part of the log.
*auditor*   reads cards and the ledger, verifies; asks nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

ROLES = ("owner", "analyst", "auditor")
ALL = frozenset(ROLES)
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
"""Every endpoint, and the roles that it is for; empty: no token is asked for."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody with a valid token."""

    name: str
    role: str
    datasets: frozenset[str] | None  # None: all of them
    expires: int  # seconds since 1970

    def sees(self, dataset: str) -> bool:
        """Whether a dataset exists, for this token."""
        return self.datasets is None or dataset in self.datasets
