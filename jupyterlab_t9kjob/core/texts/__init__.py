"""Words and numbers as users read and write them: durations, states, field names, commands, Kubernetes quantities."""
