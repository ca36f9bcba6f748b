"""Where data and questions meet: the only layer that knows a table, a task and the order of steps."""
