"""The engines that run statements, and the sources that they read."""
