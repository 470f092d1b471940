"""Sources of one dataset against each other: any two by any metric, and many on one axis."""
