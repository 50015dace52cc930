"""Engine of jobs that another lab exported as archives. They are shown, and can't be changed or run."""
