"""Certificates: what an answer carries, the schema of its text, and the check of all that it claims."""
