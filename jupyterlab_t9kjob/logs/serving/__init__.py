"""Windows, new lines, search results and downloads of logs, for pages."""
