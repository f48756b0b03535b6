"""Questions about released values: windows over groups, and SELECTs over a released sub-query."""
