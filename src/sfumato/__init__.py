"""sfumato: differential privacy, exact to the last bit. The picture stays, the person blurs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Each public name and the module it lives in: loaded at first use, so that `import sfumato` stays
# quick.
_LAZY = {
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
    "Loss": ".accounting.loss",
    "Pure": ".guarantees",
    "RandomDP": ".guarantees",
    "Refused": ".errors",
    "Renyi": ".guarantees",
    "ZCDP": ".guarantees",
    "calendar": ".tables.calendars",
    "calibrate": ".accounting.calibrate",
    "choose_epsilon": ".accounting.choosing",
    "compose": ".accounting.compose",
    "connect": ".client",
    "col": ".tables.expressions",
    "count": ".tables.aggregates",
    "count_distinct": ".tables.aggregates",
    "count_if": ".tables.aggregates",
    "count_units": ".tables.aggregates",
    "fits": ".functions",
    "histogram": ".tables.aggregates",
    "inverse_sensitivity": ".functions",
    "local": "",
    "max": ".tables.aggregates",
    "mean": ".tables.aggregates",
    "mechanisms": "",
    "median": ".tables.aggregates",
    "min": ".tables.aggregates",
    "parallel": ".accounting",
    "privatize": ".functions.privatize",
    "propose_test_release": ".functions",
    "protect": ".session",
    "quantile": ".tables.aggregates",
    "quantiles": ".tables.aggregates",
    "ratio": ".tables.aggregates",
    "risk_report": ".attacks.risk",
    "sample_sensitivity": ".sensitivity.sampled",
    "samples": "",
    "sensitivity": "",
    "shuffle": ".local.shuffle",
    "smooth_sensitivity": ".functions",
    "std": ".tables.aggregates",
    "sum": ".tables.aggregates",
    "var": ".tables.aggregates",
    "when": ".tables.expressions",
}

__all__ = ["__version__", *(name for name in _LAZY if name not in ("sum", "min", "max"))]  # noqa: PLE0604  # `import *` shadows no builtin


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
        from .errors import missing

        raise missing(error) or error from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_LAZY])
