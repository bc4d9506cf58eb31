"""Language models of bitcipher, initialized with cipher vectors: pre-training, fine-tuning, generation, analysis."""
