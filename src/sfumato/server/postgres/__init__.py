"""The service by the PostgreSQL wire protocol: psql, drivers and BI tools ask by the same path."""
