"""All jobs of all engines: the service for the handlers, and the feed for the pages."""
