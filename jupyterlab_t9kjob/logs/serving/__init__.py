"""What pages get of logs: windows, new lines, search results, downloads."""
