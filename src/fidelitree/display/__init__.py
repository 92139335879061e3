"""What people look at: words, lines of text, drawings, plots and cards; it knows nothing of how trees are found."""
