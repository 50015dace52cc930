"""Source of a job's code: its model, safe git addresses, and the errors of git."""
