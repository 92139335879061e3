"""What `diff` costs, and whether what it certifies is true: one patch, many patches, no change, two models apart."""
