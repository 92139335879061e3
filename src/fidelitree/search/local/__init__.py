"""Small trees for labelled rows: arrays in, trees out; nothing here knows spaces, targets or certificates."""
