"""The questions a table can be asked, each one class: what it asks, reads, draws and claims."""
