"""Pure functions on plain values and arrays: no files, no models, no store."""
