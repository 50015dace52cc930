"""Git repositories as the code of jobs: commits, remotes, the user's own clone, clones for jobs."""
