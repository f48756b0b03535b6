"""What the attacks share: readers of tables, matching, groups, games and results."""
