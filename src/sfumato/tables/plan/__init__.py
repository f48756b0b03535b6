"""From a query to a plan: components, contribution bounds, noise, statements, results."""
