# SPDX-License-Identifier: MIT OR Apache-2.0
"""Algorithms that no library here has, written from their documents: what the firmware is judged by.

Slow and short on purpose, in integers and byte strings; python/tests/test_references.py holds each against the
known answers of its document.
"""

from __future__ import annotations

import hashlib
import hmac
import operator
from collections.abc import Callable, Iterator
from functools import reduce

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

MASK64 = (1 << 64) - 1


def xtea_encrypt(key: bytes, block: bytes) -> bytes:
    """Encrypt 8 bytes (Needham and Wheeler, Tea extensions, 1997), bytes big-endian."""
    k = [int.from_bytes(key[i : i + 4], "big") for i in range(0, 16, 4)]
    y, z = int.from_bytes(block[:4], "big"), int.from_bytes(block[4:], "big")
    total = 0
    for _ in range(32):
        y = y + (((z << 4 ^ z >> 5) + z) ^ (total + k[total & 3])) & 0xFFFFFFFF
        total = total + 0x9E3779B9 & 0xFFFFFFFF
        z = z + (((y << 4 ^ y >> 5) + y) ^ (total + k[total >> 11 & 3])) & 0xFFFFFFFF
    return y.to_bytes(4, "big") + z.to_bytes(4, "big")


PRESENT_SBOX = (0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2)


def present_encrypt(key: bytes, block: bytes) -> bytes:
    """Encrypt 8 bytes under a key of 10 or 16 (Bogdanov et al., CHES 2007, sections 3 and 4, appendix II)."""
    bits = 8 * len(key)
    register = int.from_bytes(key, "big")
    state = int.from_bytes(block, "big")
    for counter in range(1, 33):
        state ^= register >> bits - 64
        if counter == 32:
            break
        state = sum(PRESENT_SBOX[state >> 4 * i & 15] << 4 * i for i in range(16))
        state = sum((state >> i & 1) << (63 if i == 63 else 16 * i % 63) for i in range(64))
        register = (register << 61 | register >> bits - 61) & (1 << bits) - 1
        for top in (bits - 4,) if bits == 80 else (bits - 4, bits - 8):
            register = register & ~(15 << top) | PRESENT_SBOX[register >> top & 15] << top
        register ^= counter << (15 if bits == 80 else 62)
    return state.to_bytes(8, "big")


def aes128_encrypt(key: bytes, block: bytes) -> bytes:
    """AES-128 on one block (FIPS 197), by the package cryptography."""
    return Cipher(algorithms.AES128(key), modes.ECB()).encryptor().update(block)


BLOCKS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "aes128": aes128_encrypt,
    "xtea": xtea_encrypt,
    "present80": present_encrypt,
    "present128": present_encrypt,
}
"""Encryption of a block under a key, by the cipher's name without its implementation's."""


def _aes_substitute(byte: int) -> int:
    """Invert in GF(2^8) by x^254 and map by the affine transformation (FIPS 197, 5.1.1)."""

    def times(a: int, b: int) -> int:
        product = 0
        for bit in range(8):
            product ^= (a << bit) * (b >> bit & 1)
        for bit in range(14, 7, -1):
            product ^= (0x11B << bit - 8) * (product >> bit & 1)
        return product

    inverse = 1
    for _ in range(254):
        inverse = times(inverse, byte)
    return reduce(operator.xor, (inverse << i | inverse >> 8 - i for i in range(5))) & 0xFF ^ 0x63


def aes128_schedule(key: bytes) -> bytes:
    """Expand a key into the eleven round keys of FIPS 197, section 5.2."""
    words = [key[i : i + 4] for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 44):
        word = words[-1]
        if i % 4 == 0:
            word = bytes(_aes_substitute(b) for b in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = constant << 1 ^ (constant >> 7) * 0x11B
        words.append(bytes(a ^ b for a, b in zip(words[-4], word, strict=True)))
    return b"".join(words)


def _ascon_permute(s: list[int], rounds: int) -> None:
    """Run the last rounds of Ascon-p[12] (SP 800-232, section 3)."""

    def right(x: int, n: int) -> int:
        return (x >> n | x << 64 - n) & MASK64

    for i in range(12 - rounds, 12):
        s[2] ^= 0xF0 - 0x0F * i
        s[0] ^= s[4]
        s[4] ^= s[3]
        s[2] ^= s[1]
        t = [s[j] ^ (~s[(j + 1) % 5] & s[(j + 2) % 5]) & MASK64 for j in range(5)]
        t[1] ^= t[0]
        t[0] ^= t[4]
        t[3] ^= t[2]
        t[2] ^= MASK64
        turns = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
        s[:] = [x ^ right(x, a) ^ right(x, b) for x, (a, b) in zip(t, turns, strict=True)]


def _ascon_blocks(data: bytes, rate: int) -> Iterator[list[int]]:
    """Cut data into blocks of words, one bit and zeros behind the last (SP 800-232, section 2.1)."""
    padded = data + b"\x01"
    padded += bytes(-len(padded) % rate)
    for at in range(0, len(padded), rate):
        yield [int.from_bytes(padded[i : i + 8], "little") for i in range(at, at + rate, 8)]


def ascon_hash256(message: bytes) -> bytes:
    """Hash a message (SP 800-232, section 5.1)."""
    s = [0x0000080100CC0002, 0, 0, 0, 0]
    _ascon_permute(s, 12)
    for (word,) in _ascon_blocks(message, 8):
        s[0] ^= word
        _ascon_permute(s, 12)
    digest = s[0].to_bytes(8, "little")
    for _ in range(3):
        _ascon_permute(s, 12)
        digest += s[0].to_bytes(8, "little")
    return digest


def ascon_aead128_seal(key: bytes, nonce: bytes, aad: bytes, message: bytes) -> bytes:
    """Return ciphertext and tag (SP 800-232, section 4.1.1)."""
    k = [int.from_bytes(key[i : i + 8], "little") for i in (0, 8)]
    s = [0x00001000808C0001, *k, *(int.from_bytes(nonce[i : i + 8], "little") for i in (0, 8))]
    _ascon_permute(s, 12)
    s[3], s[4] = s[3] ^ k[0], s[4] ^ k[1]
    if aad:
        for low, high in _ascon_blocks(aad, 16):
            s[0], s[1] = s[0] ^ low, s[1] ^ high
            _ascon_permute(s, 8)
    s[4] ^= 1 << 63
    blocks = list(_ascon_blocks(message, 16))
    sealed = b""
    for i, (low, high) in enumerate(blocks):
        s[0], s[1] = s[0] ^ low, s[1] ^ high
        sealed += s[0].to_bytes(8, "little") + s[1].to_bytes(8, "little")
        if i + 1 < len(blocks):
            _ascon_permute(s, 8)
    s[2], s[3] = s[2] ^ k[0], s[3] ^ k[1]
    _ascon_permute(s, 12)
    return sealed[: len(message)] + b"".join((s[3 + i] ^ k[i]).to_bytes(8, "little") for i in (0, 1))


def _digits(digest: bytes, checksum_digits: int) -> list[int]:
    """Hash in digits of 4 bits, then the sum of what they lack to 15, high digit first."""
    digits = [d for byte in digest for d in (byte >> 4, byte & 15)]
    missing = sum(15 - d for d in digits)
    return digits + [missing >> 4 * i & 15 for i in reversed(range(checksum_digits))]


def _sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def _ots_secret(seed: bytes, index: int, j: int, hash_name: str = "sha256") -> bytes:
    """x[j] as sunseal/ots.h has it."""
    return hashlib.new(hash_name, seed + index.to_bytes(4, "big") + j.to_bytes(2, "big")).digest()


def _wots_chain(x: bytes, steps: int, hash_name: str = "sha256") -> bytes:
    for _ in range(steps):
        x = hashlib.new(hash_name, x).digest()
    return x


def wots_public_key(seed: bytes, index: int) -> bytes:
    """Winternitz's public key over SHA-256, chains of 16 values (Merkle 1989; sunseal/ots.h)."""
    return _sha256(*(_wots_chain(_ots_secret(seed, index, j), 15) for j in range(67)))


def wots_sign(seed: bytes, index: int, digest: bytes, hash_name: str = "sha256") -> bytes:
    """Sign a hash, of 32 bytes where nothing else is said."""
    return b"".join(
        _wots_chain(_ots_secret(seed, index, j, hash_name), d, hash_name) for j, d in enumerate(_digits(digest, 3))
    )


def lamport_sign(seed: bytes, index: int, digest: bytes) -> list[bytes]:
    """Sign a hash of 32 bytes after Lamport and Diffie: one secret value a bit (sunseal/ots.h)."""
    bits = [byte >> 7 - i & 1 for byte in digest for i in range(8)]
    return [_ots_secret(seed, index, 0x8000 + 2 * i + b) for i, b in enumerate(bits)]


class Lms:
    """LMS_SHA256_M24_H5 with LMOTS_SHA256_N24_W4 (RFC 8554; SP 800-208, sections 4 and 5)."""

    TYPE, OTS_TYPE, N, P, H = 10, 7, 24, 51, 5

    def __init__(self, identifier: bytes, seed: bytes) -> None:
        """Compute the tree of a key, secrets after RFC 8554, appendix A."""
        self.identifier, self.seed = identifier, seed
        leaves = [self._leaf(q) for q in range(1 << self.H)]
        self.nodes = [b""] * (1 << self.H) + leaves
        for r in reversed(range(1, 1 << self.H)):
            self.nodes[r] = self._hash(r, 0x8383, self.nodes[2 * r] + self.nodes[2 * r + 1])

    def _hash(self, number: int, domain: int, rest: bytes) -> bytes:
        return _sha256(self.identifier, number.to_bytes(4, "big"), domain.to_bytes(2, "big"), rest)[: self.N]

    def _chain(self, q: int, i: int, x: bytes, begin: int, end: int) -> bytes:
        for j in range(begin, end):
            x = self._hash(q, i, bytes([j]) + x)
        return x

    def _secret(self, q: int, i: int) -> bytes:
        return self._hash(q, i, b"\xff" + self.seed)

    def _leaf(self, q: int) -> bytes:
        ends = b"".join(self._chain(q, i, self._secret(q, i), 0, 15) for i in range(self.P))
        return self._hash((1 << self.H) + q, 0x8282, self._hash(q, 0x8080, ends))

    @property
    def public_key(self) -> bytes:
        """Return types, identifier and root."""
        return self.TYPE.to_bytes(4, "big") + self.OTS_TYPE.to_bytes(4, "big") + self.identifier + self.nodes[1]

    def sign(self, q: int, message: bytes, randomizer: bytes) -> bytes:
        """Sign with the one-time key of leaf `q`, with `randomizer` in front of the message (RFC 8554)."""
        digits = _digits(self._hash(q, 0x8181, randomizer + message), 3)
        signature = q.to_bytes(4, "big") + self.OTS_TYPE.to_bytes(4, "big") + randomizer
        signature += b"".join(self._chain(q, i, self._secret(q, i), 0, d) for i, d in enumerate(digits))
        signature += self.TYPE.to_bytes(4, "big")
        node = (1 << self.H) + q
        while node > 1:
            signature += self.nodes[node ^ 1]
            node >>= 1
        return signature

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Verify a signature (RFC 8554, algorithms 4b and 6a)."""
        n, p = self.N, self.P
        if len(signature) != 12 + n * (1 + p + self.H):
            return False
        q = int.from_bytes(signature[:4], "big")
        values = [signature[8 + n * i : 8 + n * (i + 1)] for i in range(1 + p)]
        kind, path = signature[8 + n * (1 + p) :][:4], signature[12 + n * (1 + p) :]
        types = signature[4:8] == self.OTS_TYPE.to_bytes(4, "big") and kind == self.TYPE.to_bytes(4, "big")
        if not types or q >> self.H:
            return False
        digits = _digits(self._hash(q, 0x8181, values[0] + message), 3)
        ends = b"".join(self._chain(q, i, values[1 + i], d, 15) for i, d in enumerate(digits))
        number = (1 << self.H) + q
        node = self._hash(number, 0x8282, self._hash(q, 0x8080, ends))
        for level in range(self.H):
            sibling = path[n * level : n * (level + 1)]
            pair = sibling + node if number & 1 else node + sibling
            number >>= 1
            node = self._hash(number, 0x8383, pair)
        return node == self.nodes[1]


def von_neumann(samples: bytes, fold: int, count: int) -> bytes:
    """Fold bytes by exclusive or, then keep one bit of each unequal pair (Suslowicz 2017, table 6)."""
    bits: list[int] = []
    for at in range(0, len(samples), fold):
        byte = reduce(operator.xor, samples[at : at + fold])
        for i in range(0, 8, 2):
            # From the lowest bit on: 01 and 10 become their first bit.
            if byte >> i & 3 in (1, 2):
                bits.append(byte >> i & 1)
    if len(bits) < 8 * count:
        raise ValueError(f"{len(bits)} bits are left of the {8 * count} that are wanted")
    return bytes(sum(bits[8 * i + j] << j for j in range(8)) for i in range(count))


class HmacDrbg:
    """HMAC_DRBG over SHA-256 (SP 800-90A, section 10.1.2)."""

    def __init__(self, seed: bytes) -> None:
        """Instantiate from seed material: entropy, nonce and personalization in one."""
        self.key, self.value = bytes(32), b"\x01" * 32
        self._update(seed)

    def _update(self, data: bytes) -> None:
        for step in (0, 1) if data else (0,):
            self.key = hmac.digest(self.key, self.value + bytes([step]) + data, "sha256")
            self.value = hmac.digest(self.key, self.value, "sha256")

    def generate(self, count: int) -> bytes:
        """Return so many bytes, without additional input."""
        out = b""
        while len(out) < count:
            self.value = hmac.digest(self.key, self.value, "sha256")
            out += self.value
        self._update(b"")
        return out[:count]
