"""Ask again: stored counts that enter a new release, and reports on new versions of the data."""
