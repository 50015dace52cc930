"""Conversion of notebooks to scripts."""
