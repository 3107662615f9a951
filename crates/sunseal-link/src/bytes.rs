// SPDX-License-Identifier: MIT OR Apache-2.0
//! A short byte string that lives where it stands: no heap, a capacity in its type.

use core::fmt;
use core::ops::Deref;

/// Up to `N` bytes, in place.
#[derive(Clone, Copy)]
pub struct InlineBytes<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> InlineBytes<N> {
    /// Makes a string of no bytes.
    pub const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    /// A copy of `bytes`; `None` if they are more than `N`.
    pub fn copy_of(bytes: &[u8]) -> Option<Self> {
        let mut out = Self::new();
        out.append(bytes).then_some(out)
    }

    /// Appends `bytes` and says true, or leaves the string as it was and says false.
    #[must_use]
    pub fn append(&mut self, bytes: &[u8]) -> bool {
        match self.bytes.get_mut(self.len..self.len + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
                true
            }
            None => false,
        }
    }

    /// Appends what the caller knows to fit: layouts of constant size within this crate.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let fits = self.append(bytes);
        assert!(fits, "a layout of this crate is larger than the {N} bytes set aside for it");
    }
}

impl<const N: usize> Default for InlineBytes<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Deref for InlineBytes<N> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl<const N: usize> AsRef<[u8]> for InlineBytes<N> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<const N: usize> PartialEq for InlineBytes<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<const N: usize> Eq for InlineBytes<N> {}

impl<const N: usize> fmt::Debug for InlineBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(self, f)
    }
}

impl<const N: usize> fmt::Display for InlineBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(self, f)
    }
}

pub(crate) fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
}
