"""What a guarantee means to a person: odds, beliefs, attackers, sentences."""
