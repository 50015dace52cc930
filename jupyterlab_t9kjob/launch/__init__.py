"""Turns a file or a manifest into a filled launch form, and checks a job before it is submitted."""
