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
    "DeltaWarning": ".errors",
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
    "UnitWarning": ".errors",
    "ZCDP": ".guarantees",
    "calendar": ".tables.query.calendars",
    "census": ".censuses",
    "censuses": "",
    "calibrate": ".accounting.calibrate_schedule",
    "choose_epsilon": ".accounting.choose_epsilon",
    "choose_epsilon_delta": ".accounting.choose_epsilon_delta",
    "choose_study": ".accounting.choose_study",
    "compose": ".accounting.compose",
    "connect": ".client",
    "cube": ".tables.query.groupings",
    "curators": "",
    "col": ".tables.expr.expressions",
    "fits": ".functions",
    "functions": "",
    "grouping_sets": ".tables.query.groupings",
    "guarantees": "",
    "hierarchy": ".tables.declare.place_hierarchy",
    "inverse_sensitivity": ".functions",
    "learn": "",
    "local": "",
    "mechanisms": "",
    "noise": "",
    "plots": "",
    "studies": "",
    "parallel": ".accounting",
    "plan_census": ".censuses",
    "plan_synthesis": ".synth",
    "privatize": ".functions.privatize",
    "propose_test_release": ".functions",
    "protect": ".session",
    "rollup": ".tables.query.groupings",
    "refresh": ".session.repeats.refresh_report",
    "report": ".session.reports",
    "risk_report": ".attacks.report.risk",
    "sample_sensitivity": ".sensitivity.sampled",
    "samples": "",
    "sensitivity": "",
    "shuffle": ".local.amplification",
    "smooth_sensitivity": ".functions",
    "stream": ".streams",
    "streams": "",
    "synth": "",
    "synthesize": ".synth",
    "when": ".tables.expr.expressions",
}

_AGGREGATES = ".tables.aggregates"
"""The module whose public names are public here, too: it alone lists aggregates."""


def __getattr__(name: str) -> Any:
    if name == "__all__":  # `import *` shadows no builtin
        return [name for name in __dir__() if name not in ("sum", "min", "max")]
    if name not in _LAZY and (name.startswith("_") or name not in _aggregate_names()):
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    home = _LAZY.get(name, _AGGREGATES)
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
    return sorted(["__version__", *_LAZY, *_aggregate_names()])


def _aggregate_names() -> list[str]:
    names: list[str] = import_module(_AGGREGATES, __name__).__all__
    return names
