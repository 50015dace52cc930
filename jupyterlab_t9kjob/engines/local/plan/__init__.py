"""From a spec to the plan that a supervisor executes: command, limits, checks."""
