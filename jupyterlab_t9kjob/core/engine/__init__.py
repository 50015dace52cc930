"""Engines as the rest of the server knows them: required and optional protocols, facts, state, and what they get."""
