"""Reading and following log streams."""
