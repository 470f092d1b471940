"""DuckDB's extension by itself: connections and errors, the same objects as in the package `duckdb`.

The package brings 100 modules more (relations, expressions, values), which nothing in the store uses and which take
three times as long to load as the extension: they stood between the start of the workbench and its first row.
"""

from _duckdb import BinderException, CatalogException, Error, OperationalError, ProgrammingError, connect

__all__ = ["BinderException", "CatalogException", "Error", "OperationalError", "ProgrammingError", "connect"]
