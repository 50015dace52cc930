"""Presets of the launch form, and the administrator's locks on fields of jobs."""
