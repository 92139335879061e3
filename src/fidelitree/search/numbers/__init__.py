"""Small trees for targets that answer numbers: a leaf is right where it is within a tolerance."""
