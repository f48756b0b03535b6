"""Code shared by the attacks: table readers, matching, groups, games and results."""
