"""Tables and reports."""
