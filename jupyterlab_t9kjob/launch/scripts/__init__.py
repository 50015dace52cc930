"""Facts about a script, read from its text. Nothing is run or imported."""
