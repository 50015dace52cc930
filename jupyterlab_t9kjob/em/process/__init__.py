"""The process that records: its facts, its rank, its standard output."""
