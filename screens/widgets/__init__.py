"""Widgets that know no task and no place."""
