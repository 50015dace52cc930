"""The command line `t9kjob`, also `jupyter t9kjob`: commands, their options, and what they print."""
