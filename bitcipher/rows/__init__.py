"""Context counts of single words, and the table rows that each mode computes from them."""
