"""Snapshots of code: which files a job's copy has, where the copy lies, and how it differs from the current files."""
