"""Is this the same as that? How far apart, where, for which answers, still true in production, checkable later."""
