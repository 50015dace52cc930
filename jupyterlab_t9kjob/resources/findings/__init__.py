"""Findings about the use of resources. Ten minutes of evidence prevent false alarms."""
