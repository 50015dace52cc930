"""Failures as logs tell them: the error's text, the traceback, advice."""
