"""Ways to propose trees for the answers so far, one for each kind of inputs and of wish."""
