"""Log files on disk: time indexes, size caps, spools of container logs, leases of their folders."""
