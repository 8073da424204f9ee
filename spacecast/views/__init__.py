"""Usable frames, names, links between views, chains."""
