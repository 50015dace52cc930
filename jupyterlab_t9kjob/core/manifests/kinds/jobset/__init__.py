"""JobSet of Kubernetes' batch working group: its declaration, and its conversion to and from a spec."""
