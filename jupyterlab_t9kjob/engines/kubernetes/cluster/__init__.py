"""Cluster: connection, discovery, permissions, namespace watches, capacity, queues and volumes."""
