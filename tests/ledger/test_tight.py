"""The certified total of a book: its number, and what it is called."""

from __future__ import annotations

import sfumato as sf
from sfumato import mechanisms as mech

LAPLACE = mech.Laplace(sensitivity=1, epsilon="0.1", grid=2**-20)


def book() -> sf.Ledger:
    return sf.Ledger.open(
        budget=sf.Approx(10, "1e-6"), dataset="visits", unit="user_id", relation="add-remove"
    )


def test_charges_are_composed_and_what_was_given_back_is_not() -> None:
    led = book()
    for _ in range(20):
        led.charge(LAPLACE, memo="count")
    led.release(led.reserve(mech.Laplace(sensitivity=1, epsilon=5), memo="not needed"))
    held = led.reserve(sf.Pure("0.5"), memo="perhaps")
    led.use(held)
    composed = led.tight("1e-6")
    assert composed.total.parts == sf.compose([(LAPLACE, 20), sf.Pure("0.5")]).parts
    assert composed.epsilon_lower <= composed.epsilon < 2.5
    assert composed.total.relation in (None, "add-remove")


def test_it_is_a_promise_only_where_the_laws_were_fixed() -> None:
    led = book()
    led.charge([LAPLACE] * 10, memo="one plan")
    assert led.tight("1e-6").fixed_beforehand
    led.charge(LAPLACE, memo="one more")
    assert not led.tight("1e-6").fixed_beforehand
    assert "no promise" in str(led.tight("1e-6"))
    assert led.tight("1e-6", fixed_beforehand=True).fixed_beforehand
