"""The HTTP interface: routes, models of requests and replies, limits, problems."""
