"""Failures read from logs: which rank failed first, its error and traceback, and advice for well-known errors."""
