"""Handlers of jobs: actions, code, logs, use of resources, stacks, sweeps and tries."""
