"""Language models that start from cipher vectors; see the README for what is to come."""
