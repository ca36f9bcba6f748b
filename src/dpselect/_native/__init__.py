"""The compiled core; everything about it is in ``_core.pyi``.

Only `dpselect.mechanisms` may import it, and `dpselect.backends.files.json_lines` for reading, which draws nothing.
"""
