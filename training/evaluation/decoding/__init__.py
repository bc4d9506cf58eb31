"""Text generation with greedy search or sampling, from zero-, one- and few-shot prompts."""
