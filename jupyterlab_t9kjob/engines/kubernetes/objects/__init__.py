"""Objects of Kubernetes, T9k and Kubeflow: functions that read and write their fields."""
