"""Logs of jobs: files on disk, what pages get of them, and the failures that they report."""
