"""The catalogue that `sfumato audit` runs: the examples of everything here that adds noise."""

from __future__ import annotations

from ..local.restore_question import ORACLES
from ..mechanisms import MECHANISMS

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)

CATALOGUE = tuple(example for kind in (*MECHANISMS, *ORACLES) for example in kind.audit_examples())
"""All examples, by mechanism; a comma in the name marks another setting of the same mechanism."""
