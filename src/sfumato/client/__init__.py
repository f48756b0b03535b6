"""The client: a protected table behind a server, with the same methods as a local one."""

from .connection import Connection, connect

__all__ = ["Connection", "connect"]
