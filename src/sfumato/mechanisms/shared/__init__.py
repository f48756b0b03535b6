"""What the mechanisms share: records, grids, bins, candidates, results."""
