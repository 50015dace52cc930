"""Samples the resources that a local job uses, in a process of its own beside the supervisor; standard library only."""
