"""TensorBoard child processes."""
