"""Stage executors, memory budgets, progress and events."""
