"""Submission of a job to a cluster: checks before it, the dry run, and the creation of its object."""
