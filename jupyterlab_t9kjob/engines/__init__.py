"""Engines: implementations of `core.engine.Engine`, and the registry that finds them."""
