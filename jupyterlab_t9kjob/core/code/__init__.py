"""Where the code of a job comes from: its model, safe git addresses, and the errors of git."""
