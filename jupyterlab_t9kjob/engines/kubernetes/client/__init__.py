"""Client of an API server: credentials, connections, requests, lists, watches. Knows no job."""
