"""Direction, distance, occlusion, attachment: each answer with its margins."""
