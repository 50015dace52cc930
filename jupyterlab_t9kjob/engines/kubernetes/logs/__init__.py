"""Logs of a job's pods: they are followed, kept on disk, and listed as streams."""
