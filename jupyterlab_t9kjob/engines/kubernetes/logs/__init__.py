"""Logs of a job's pods: followed, kept on disk, listed as streams."""
