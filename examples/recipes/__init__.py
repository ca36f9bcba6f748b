"""Where selection is used: trees, synthetic data and networks with each mechanism, over epsilon."""
