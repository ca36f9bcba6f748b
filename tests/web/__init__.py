"""The pages of `dpselect serve`: some tests talk to the server, others use a real browser."""
