"""Engines that run jobs in a Kubernetes cluster: T9k, Kubeflow, and Kubernetes itself."""
