"""Client of an API server: credentials, connections, requests, lists and watches; it knows no jobs."""
