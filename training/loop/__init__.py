"""Training loop with exact resume, for any model, objective and number of workers."""
