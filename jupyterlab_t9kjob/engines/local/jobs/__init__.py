"""Stored jobs of this machine: finding, creating and watching them, and the API's models of them."""
