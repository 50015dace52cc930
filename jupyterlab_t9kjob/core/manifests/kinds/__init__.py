"""The kinds of objects that describe a job: rendering, parsing, limits."""
