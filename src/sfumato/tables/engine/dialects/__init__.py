"""What differs between engines: one module for each, and none of it anywhere else.

*Same*     An expression is built once, for all engines, and is total in the language of DuckDB. A
           dialect writes the same operations in the language of another engine so that they give
           the same values there, and never an error.
*Refused*  What an engine cannot do so is refused when the statement is written, before anything is
           charged or read.
"""
