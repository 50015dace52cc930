"""Training of a script: its distribution, its output folders, and mistakes of scripts with several processes.

`flow` follows values through the assignments and calls of a script and its modules; `method`, `outputs` and `rules`
are built on it. The facts about each module come from `scripts.observation`.
"""
