"""Log files of a local job: search, time indexes, size limit. Standard library only."""
