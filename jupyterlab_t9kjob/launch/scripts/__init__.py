"""What the text of a script tells about it. Nothing is run or imported."""
