"""Whether promises are kept, for tests that look at several at once."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.attacks.lib.attack_result import Success


def kept(private: Sequence[Success]) -> bool:
    """Whether all of up to ten are: as `holds`, wrong with probability 10⁻⁷ for each, so 10⁻⁶ in
    all.
    """
    assert 1 <= len(private) <= 10
    return all(one.bound is not None and one.lower("1e-7") <= one.bound for one in private)
