"""Sums over several curators that do not trust each other: each adds a share of one exact noise,
and secret shares hide everything but the noisy total.
"""

from .secure_sum import SecureSum

__all__ = ["SecureSum"]


def __dir__() -> list[str]:
    return sorted(__all__)
