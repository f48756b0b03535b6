"""The risk report of a table, as a record and as one page."""
