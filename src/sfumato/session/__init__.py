"""Declared tables: from a source to a safe answer."""

from .database import Database
from .protect import protect
from .table import Table

__all__ = ["Database", "Table", "protect"]
