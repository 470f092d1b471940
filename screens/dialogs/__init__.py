"""What asks a person for something before it is done."""
