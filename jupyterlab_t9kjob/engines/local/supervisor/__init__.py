"""Runs one job, detached from the server. Standard library only."""
