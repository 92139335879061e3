"""What a target is like: how much each feature matters."""
