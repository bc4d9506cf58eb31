"""Fine-tuning tasks: GLUE, question answering in SQuAD's format, and named entities."""
