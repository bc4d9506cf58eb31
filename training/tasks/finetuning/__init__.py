"""Fine-tuning of pre-trained models on tasks; see README.md."""
