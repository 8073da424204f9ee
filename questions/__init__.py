"""What is asked: knows the engine, no files."""
