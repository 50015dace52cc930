"""REST and WebSocket handlers: authentication, authorization and validation, without logic of their own."""
