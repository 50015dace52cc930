"""JobSet as a kind of job, and the pods of JobSets."""
