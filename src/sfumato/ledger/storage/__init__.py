"""Storage of a ledger: SQLite files and PostgreSQL, with their schemas, checks and upgrades."""
