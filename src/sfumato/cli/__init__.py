"""The `sfumato` command: parse, call one public function, render. No mathematics here."""

from .commands import main

__all__ = ["main"]
