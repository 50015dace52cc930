"""Findings about the use of resources. False alarms are worse than silence: each needs ten minutes of evidence."""
