"""What the studies here share: figures with their numbers, findings read off them, pages that show both."""
