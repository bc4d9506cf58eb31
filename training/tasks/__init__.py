"""What models are fine-tuned and measured on: GLUE, SQuAD and its kin, and entities."""
