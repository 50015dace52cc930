"""Files of logs on disk: indexes of times, size limits, spools, leases."""
