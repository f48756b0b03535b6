"""sfumato: differential privacy, exact to the last bit. The picture stays, the person blurs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Each public name and the module it lives in: loaded at first use, so that `import sfumato` stays quick.
_LAZY = {
    "Approx": ".guarantees",
    "Failed": ".errors",
    "GDP": ".guarantees",
    "Guarantee": ".guarantees",
    "BudgetExceeded": ".ledger",
    "Ledger": ".ledger",
    "Pure": ".guarantees",
    "RandomDP": ".guarantees",
    "Refused": ".errors",
    "Renyi": ".guarantees",
    "ZCDP": ".guarantees",
    "choose_epsilon": ".accounting.choosing",
    "mechanisms": "",
    "parallel": ".accounting",
    "inverse_sensitivity": ".functions",
    "propose_test_release": ".functions",
    "samples": "",
}

__all__ = ["__version__", *_LAZY]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    home = _LAZY[name]
    value = getattr(import_module(home, __name__), name) if home else import_module(f".{name}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
