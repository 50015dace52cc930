"""The commands, each of which is imported when it is used."""
