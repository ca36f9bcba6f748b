"""How far private releases of a whole distribution are from it: the mechanisms and their comparators, on real data."""
