"""Disks, processes, threads, locks and tasks. Knows no job."""
