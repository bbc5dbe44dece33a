"""What person and model say to each other, and where the person says it."""
