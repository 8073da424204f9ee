"""Answers of models: prompts, parsing, scores, baselines."""
