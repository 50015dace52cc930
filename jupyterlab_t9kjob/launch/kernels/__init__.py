"""Kernels of the lab: the Python of each, its packages, its processes."""
