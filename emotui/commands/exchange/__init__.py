"""What comes into the store from files, and goes out of it into files."""
