"""Disks, processes, threads, locks and tasks, independent of jobs."""
