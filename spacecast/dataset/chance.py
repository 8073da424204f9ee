"""Where chance comes from: one generator per use, derived from what it is for."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(*key: str | int) -> np.random.Generator:
    """A generator that depends on the key's parts and on nothing else (not on call order, hash seed or machine)."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in key)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest[:16], dtype="<u8")))
