"""The mechanisms that decide which groups may be shown, and show their counts."""
