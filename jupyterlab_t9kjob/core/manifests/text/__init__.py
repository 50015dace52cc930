"""Manifests as text: reading and writing YAML, patches."""
