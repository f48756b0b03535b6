"""The certified privacy-loss accountant: dominating pairs, laws of the loss on a lattice, their
composition, and certified bounds from above and below.
"""
