"""Backends: the only code that touches rows. Each bounds what one unit can do and hands up a small summary."""
