"""Manifest kinds: rendering, parsing, field types and capabilities."""
