"""torchrun's commands in containers: those that jobs of ours have, and those that users write."""
