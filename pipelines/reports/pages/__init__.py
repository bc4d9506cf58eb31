"""HTML pages: single files with inline styles, scripts and data."""
