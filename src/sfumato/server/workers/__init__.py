"""The processes that read data: the pool, the worker, its deadlines and its processors."""
