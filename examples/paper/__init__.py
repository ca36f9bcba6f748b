"""The figures of the permute-and-flip paper (McKenna and Sheldon, NeurIPS 2020), recomputed: ``make paper``."""
