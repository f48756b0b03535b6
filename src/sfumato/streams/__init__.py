"""Streams: counts, sums, means and numbers of units over a table that grows, published period by
period under one promise for all of them.

A stream charges the ledger once, for ever, and stores each period's noisy integers there before it
shows them. Everything that it prints is computed from these integers.
"""

from .open_stream import stream
from .running_stream import Stream
from .stream_plan import StreamPlan
from .stream_table import StreamTable

__all__ = ["Stream", "StreamPlan", "StreamTable", "stream"]
