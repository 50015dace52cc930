"""Objects of Kubernetes, T9k and Kubeflow: their fields, read and written."""
