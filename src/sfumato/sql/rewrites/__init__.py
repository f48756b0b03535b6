"""Questions near a refused one: changed copies of its parsed text."""
