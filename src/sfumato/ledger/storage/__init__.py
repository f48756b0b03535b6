"""The tables of a ledger in SQLite files and PostgreSQL, with their writers and upgrades."""
