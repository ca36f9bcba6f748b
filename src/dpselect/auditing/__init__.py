"""Look for mistakes in mechanisms and scores that others wrote. What is found is proved; nothing else is."""
