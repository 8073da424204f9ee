"""Ray casting: id and depth images, silhouettes, occlusion, pictures, maps."""
