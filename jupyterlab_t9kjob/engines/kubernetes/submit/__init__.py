"""Requests that create, change and delete jobs in a cluster, with the checks and the dry run before a creation."""
