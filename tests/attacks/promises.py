"""Whether promises are kept, for tests that look at several at once."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.attacks.lib.attack_result import Success


def promises_hold(private: Sequence[Success]) -> bool:
    """Whether all of up to ten are: as `holds`, wrong with probability 10⁻⁷ for each, so 10⁻⁶ in
    all.
    """
    assert 1 <= len(private) <= 10
    return all(
        success.bound is not None and success.lower("1e-7") <= success.bound for success in private
    )
