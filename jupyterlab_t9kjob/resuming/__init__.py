"""Resumes jobs from checkpoints: the change of a clone, and the continuation of evicted jobs by the server."""
