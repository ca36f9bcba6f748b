"""What the library does not build, each with the figures that show why."""
