"""Declared tables: from a source to a safe answer."""

from .protect import protect
from .protected_database import Database
from .protected_table import Table

__all__ = ["Database", "Table", "protect"]
