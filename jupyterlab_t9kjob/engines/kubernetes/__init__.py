"""Engines that run jobs in a Kubernetes cluster: T9k and Kubeflow."""
