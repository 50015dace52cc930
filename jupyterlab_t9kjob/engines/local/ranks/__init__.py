"""Shells in the environment of a local job's replicas and ranks: same Python, variables and working directory."""
