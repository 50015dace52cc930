"""Manifests as text: reads and writes YAML, restores indentation, and computes patches."""
