"""Why a job or a replica is in its state."""
