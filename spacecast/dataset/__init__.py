"""Questions to files: candidates, selection, balance, shards, manifest, verification."""
