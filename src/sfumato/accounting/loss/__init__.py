"""The certified privacy-loss machine: dominating pairs, laws of the loss on a lattice, their
composition, and bounds that hold on both sides.
"""
