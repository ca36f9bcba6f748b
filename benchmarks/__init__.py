"""How fast dpselect is, as ratios to peers measured side by side in one run: ``make bench``."""
