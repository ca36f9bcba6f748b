"""Files of all kinds: schemas are read first, then rows batch by batch."""
