"""Public or invented data for the attacks."""
