"""Pictures of the attacks."""
