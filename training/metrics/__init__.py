"""Figures of predictions against the truth, all in percent, as papers print them."""
