"""The other side of the wall: a protected table behind a server, with the verbs of one in this
process.
"""

from .connection import Connection, connect

__all__ = ["Connection", "connect"]
