"""Metrics that jobs reported: reading them from event files and logs, and curves of them for a page."""
