"""Language models initialized with cipher vectors: pre-training, fine-tuning, generation and analysis."""
