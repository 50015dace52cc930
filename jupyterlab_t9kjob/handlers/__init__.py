"""HTTP and WebSocket doors: thin, authenticated, authorized."""
