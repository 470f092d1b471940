"""The Textual face of the workbench."""
