"""Laws on finitely many outcomes, exactly: channels and divergences."""
