"""Training runs: recipes, prepared inputs, folders, workers, and checks of what is stored."""
