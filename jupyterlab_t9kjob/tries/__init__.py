"""Tries: a job's script runs on this machine for a few steps before the job is submitted to a cluster."""
