"""Files in a local job's directory: plan, record and events. Standard library only."""
