"""Protected tables and databases: from a data source to a private answer."""

from .protect import protect
from .protected_database import Database
from .protected_table import Table

__all__ = ["Database", "Table", "protect"]
