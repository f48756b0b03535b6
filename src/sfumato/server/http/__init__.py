"""The HTTP side of the service: routes, models of requests and replies, limits, problems."""
