"""Commands in containers: exec over WebSockets, with the protocol v5.channel.k8s.io."""
