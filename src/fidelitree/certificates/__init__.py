"""What is promised about a tree, on which evidence, and how it is kept."""
