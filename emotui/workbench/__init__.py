"""What a person can do with emotui, without a screen. Commands and screens are two faces of it."""
