"""Artifacts of runs: the graph of runs and artifacts, the files of an artifact, and their previews.

`service` answers the requests. `flow` builds the graph, `files` lists and opens the files of an artifact, and
`previews` reads them. No file is ever run or unpickled.
"""
