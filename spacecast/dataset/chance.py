"""Where chance comes from: one generator per use, derived from what it is for."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(*key: str | int) -> np.random.Generator:
    """A generator that depends on the key's parts and on nothing else (not on call order, hash seed or machine)."""
    return np.random.Generator(np.random.Philox(key=np.frombuffer(_digest(key)[:16], dtype="<u8")))


def number(*key: str | int) -> int:
    """One number below 2**62 that depends on the key's parts and on nothing else; cheaper than a generator."""
    return int.from_bytes(_digest(key)[:8], "little") >> 2


def _digest(key: tuple[str | int, ...]) -> bytes:
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in key)
    return hashlib.sha256(text.encode()).digest()
