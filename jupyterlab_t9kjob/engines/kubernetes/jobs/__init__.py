"""The jobs of the watched namespaces: what is known of each, what is kept, and what the API tells."""
