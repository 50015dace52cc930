"""Sweeps: from the values that a user typed to the specs of the jobs."""
