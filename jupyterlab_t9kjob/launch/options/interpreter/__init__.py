"""Abstract interpreter that follows scripts without running them, to find the options that they declare."""
