"""Tables in memory and in other libraries."""
