"""How commands reach the terminal: tables, and progress."""
