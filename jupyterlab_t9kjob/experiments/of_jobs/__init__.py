"""Runs of jobs whose script recorded nothing, and folders that only jobs name."""
