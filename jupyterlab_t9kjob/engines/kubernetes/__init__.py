"""The engines that run jobs in a Kubernetes cluster."""
