"""A study of small models from one recipe: its language, its trials on Ray Tune, its report."""
