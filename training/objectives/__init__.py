"""Pre-training objectives: inputs and targets from token sequences, and the sum of the losses of the predictions."""
