"""The `sfumato` command: parse, call one public function, render. No mathematics here."""

from .app import main

__all__ = ["main"]
