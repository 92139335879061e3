"""The learner over bits: what to ask, what is known, and the smallest tree that fits it, several splits ahead."""
