"""Execution of stages in this process or on Ray, with memory budgets, costs, progress bars and a structured log."""
