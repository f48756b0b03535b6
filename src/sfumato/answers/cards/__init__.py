"""The release card: what was released and what it cost, for machines and for people."""
