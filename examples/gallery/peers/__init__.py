"""A column for each peer; to import one needs that peer (``benchmarks/requirements.txt``)."""
