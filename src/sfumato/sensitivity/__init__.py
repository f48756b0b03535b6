"""How far a statistic can move between neighbours: at a dataset, at a distance from it, and how far away a value is."""
