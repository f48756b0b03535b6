"""Declared tables: from a source to a safe answer."""

from .protect import protect
from .table import Table

__all__ = ["Table", "protect"]
