"""Boxes, hulls, support patches and surface distance: arrays in, arrays out, no state."""
