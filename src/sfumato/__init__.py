"""sfumato: differential privacy, exact to the last bit. The picture stays, the person blurs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# Each public name and the module it lives in: loaded at first use, so that `import sfumato` stays
# quick.
_LAZY = {
    "accounting": "",
    "answers": "",
    "attacks": "",
    "audit": ".auditing",
    "auditing": "",
    "Approx": ".guarantees",
    "Bernstein": ".functions.bernstein",
    "Curve": ".functions.curve",
    "Failed": ".errors",
    "GDP": ".guarantees",
    "Guarantee": ".guarantees",
    "BudgetExceeded": ".ledger",
    "Ledger": ".ledger",
    "Loss": ".accounting.loss.privacy_loss",
    "Pure": ".guarantees",
    "RandomDP": ".guarantees",
    "Refused": ".errors",
    "Renyi": ".guarantees",
    "ZCDP": ".guarantees",
    "calendar": ".tables.query.calendars",
    "calibrate": ".accounting.calibrate_schedule",
    "choose_epsilon": ".accounting.choose_epsilon",
    "compose": ".accounting.compose",
    "connect": ".client",
    "col": ".tables.expr.expressions",
    "count": ".tables.query.aggregates",
    "count_distinct": ".tables.query.aggregates",
    "count_if": ".tables.query.aggregates",
    "count_units": ".tables.query.aggregates",
    "fits": ".functions",
    "functions": "",
    "guarantees": "",
    "histogram": ".tables.query.aggregates",
    "inverse_sensitivity": ".functions",
    "local": "",
    "max": ".tables.query.aggregates",
    "mean": ".tables.query.aggregates",
    "mechanisms": "",
    "median": ".tables.query.aggregates",
    "noise": "",
    "plots": "",
    "studies": "",
    "min": ".tables.query.aggregates",
    "parallel": ".accounting",
    "privatize": ".functions.privatize",
    "propose_test_release": ".functions",
    "protect": ".session",
    "quantile": ".tables.query.aggregates",
    "quantiles": ".tables.query.aggregates",
    "ratio": ".tables.query.aggregates",
    "risk_report": ".attacks.report.risk",
    "sample_sensitivity": ".sensitivity.sampled",
    "samples": "",
    "sensitivity": "",
    "shuffle": ".local.shuffle",
    "smooth_sensitivity": ".functions",
    "std": ".tables.query.aggregates",
    "sum": ".tables.query.aggregates",
    "var": ".tables.query.aggregates",
    "when": ".tables.expr.expressions",
}

__all__ = [  # noqa: PLE0604  # `import *` shadows no builtin
    "__version__",
    *(name for name in _LAZY if name not in ("sum", "min", "max")),
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    home = _LAZY[name]
    try:
        value = (
            getattr(import_module(home, __name__), name)
            if home
            else import_module(f".{name}", __name__)
        )
    except ModuleNotFoundError as error:
        from .errors import missing_package

        raise missing_package(error) or error from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_LAZY])
