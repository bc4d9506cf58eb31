"""Grid search over the options of fine-tuning on a task."""
