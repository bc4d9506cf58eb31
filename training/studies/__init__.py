"""Studies of papers, one folder each. A study imports the product; nothing but its command imports it."""
