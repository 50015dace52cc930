"""TrainJob of Kubeflow Trainer: its declaration, its conversion to and from a spec, and its spellings."""
