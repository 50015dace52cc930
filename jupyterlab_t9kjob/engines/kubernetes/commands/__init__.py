"""Commands in the pods of jobs: stacks of ranks, and terminals."""
