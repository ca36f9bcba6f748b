"""Backends: the only code that reads rows. Each bounds the contribution of one unit and returns a small summary."""
