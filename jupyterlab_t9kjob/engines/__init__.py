"""Engines: implementations of `core.engine.protocol.Engine`, and the registry that finds them."""
