"""Reasons: why jobs, replicas and containers are in their state, and why the API server refuses a request."""
