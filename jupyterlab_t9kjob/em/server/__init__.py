"""Uploads runs and artifacts to T9k's AIStore server, or copies them to a folder."""
