"""Sweeps: creation, actions on all of their jobs, turns in a cluster, the median rule."""
