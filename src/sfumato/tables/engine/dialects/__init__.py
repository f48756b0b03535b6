"""The SQL dialects: everything that differs between engines, in one module for each engine.

*Same*     An expression is built once, for all engines, and is total in DuckDB's SQL. A dialect
           writes the same operations in the SQL of another engine so that they give the same values
           there, and never an error.
*Refused*  An operation that an engine cannot express is refused when the statement is written,
           before anything is charged or read.
"""
