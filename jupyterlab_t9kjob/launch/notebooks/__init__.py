"""Notebooks as scripts."""
