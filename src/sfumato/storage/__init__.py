"""Storage in SQLite files and PostgreSQL: opening, checks of the file, transactions, versions."""
