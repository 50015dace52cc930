"""Runs of experiments: found below a folder, read from their files, kept in an index, watched while a page shows them.

`service` answers the requests. `library` holds the runs; `finder` finds them, the readers in `sources` read their
files, and `index` keeps what was read. Files of others are never changed.
"""
