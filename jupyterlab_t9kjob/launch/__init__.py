"""From a file to a filled form and to a command."""
