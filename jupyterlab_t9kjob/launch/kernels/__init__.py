"""Kernels of the lab: their Pythons, their packages, their processes."""
