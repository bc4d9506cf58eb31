"""AraBERT's comparison on ARCD (Antoun et al. 2020)."""
