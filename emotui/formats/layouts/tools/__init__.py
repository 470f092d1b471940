"""The files that annotation programs write: a module a program."""
