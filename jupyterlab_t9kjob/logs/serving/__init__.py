"""Logs for pages: windows of lines, new lines, search results, downloads."""
