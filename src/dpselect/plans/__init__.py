"""Plans: several questions about one table, one budget for all, and files of the answers."""
