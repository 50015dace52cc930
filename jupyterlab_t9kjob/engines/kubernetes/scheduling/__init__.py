"""Scheduling of a job's pods: free capacity of nodes, queues of Kueue, pod groups of T9k's scheduler."""
