"""Where a ledger is stored: SQLite files and PostgreSQL, their schemas, checks and upgrades."""
