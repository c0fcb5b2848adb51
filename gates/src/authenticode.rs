//! Authenticode: who signed a PE image, and whether the signature is about its bytes.
//!
//! 1. [`layout`] finds the signatures in the image and hashes what they are about.
//! 2. [`message`] takes a signature apart (PKCS #7 as Authenticode has it, in DER).
//! 3. [`cert`] reads what of a certificate matters, [`algorithm`] and [`key`] tell whether a key
//!    made a signature, and [`chain`] which certificate vouches for which.
//!
//! The encoding is read by RustCrypto's `der`. Whatever is not understood is an error, never a
//! signature that is fine. There is no clock and no network: validity in time, time stamps and
//! revocation are not checked.

pub mod algorithm;
pub mod cert;
pub mod chain;
mod key;
pub mod layout;
pub mod message;

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use crate::input::ReadSeek;
use algorithm::Hash;
use chain::Chain;
use layout::Layout;
use message::Message;

/// Why a signature does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// It cannot be read, or uses what is not checked here.
    Unread(String),
    /// It is made with a hash that is broken, and proves nothing.
    Weak(String),
    /// It contradicts itself: altered, or made by another key.
    Wrong(String),
}

impl Broken {
    /// The same, and of what.
    fn of(self, what: &str) -> Self {
        let of = |why| format!("{what}: {why}");
        match self {
            Self::Unread(why) => Self::Unread(of(why)),
            Self::Weak(why) => Self::Weak(of(why)),
            Self::Wrong(why) => Self::Wrong(of(why)),
        }
    }

    /// What is made with a hash that is broken.
    fn weak(hash: &str) -> Self {
        Self::Weak(format!("it is made with {hash}, which proves nothing"))
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread(why) | Self::Weak(why) | Self::Wrong(why) => f.write_str(why),
        }
    }
}

impl From<der::Error> for Broken {
    fn from(error: der::Error) -> Self {
        Self::Unread(format!("no DER of a signature: {error}"))
    }
}

/// A signature on an image.
#[derive(Debug)]
pub struct Signature {
    /// How the image was hashed; none when that proves nothing.
    pub hash: Option<Hash>,
    /// What came out when it was signed.
    pub digest: Vec<u8>,
    /// What comes out now; empty before [`compare`].
    pub actual: Vec<u8>,
    /// Who signed, or why that cannot be told.
    pub chain: Result<Chain, Broken>,
}

impl Signature {
    /// Reads a signature from its DER, and those inside it, and adds them to `all`.
    ///
    /// # Errors
    /// [`Broken`] for the first that is none; those before it are added.
    pub fn read(der: &[u8], all: &mut Vec<Self>) -> Result<(), Broken> {
        let message = Message::read(der)?;
        all.push(Self::of(&message));
        // A signature in a nested one would be about nothing that tools look at.
        for nested in &message.nested {
            all.push(Self::of(&Message::read(nested)?));
        }
        Ok(())
    }

    fn of(message: &Message<'_>) -> Self {
        Self {
            hash: message.hash.as_ref().ok().copied(),
            digest: message.digest.to_vec(),
            actual: Vec::new(),
            chain: chain::check(message),
        }
    }

    /// Whether it is about the image's bytes; [`compare`] finds out.
    #[must_use]
    pub fn is_right(&self) -> bool {
        !self.actual.is_empty() && self.actual == self.digest
    }

    /// Whether it proves that its signer signed these bytes.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.is_right() && self.chain.is_ok()
    }
}

/// Reads an image once and tells each of its signatures what digest comes out.
///
/// # Errors
/// An I/O error.
pub fn compare(
    layout: &Layout,
    image: &mut dyn ReadSeek,
    signatures: &mut [Signature],
) -> io::Result<()> {
    let hashes: BTreeSet<Hash> = signatures.iter().filter_map(|s| s.hash).collect();
    let hashes: Vec<Hash> = hashes.into_iter().collect();
    let digests = layout.digests(image, &hashes)?;
    for signature in signatures {
        let same = hashes
            .iter()
            .zip(&digests)
            .find(|(hash, _)| Some(**hash) == signature.hash);
        signature.actual = same.map(|(_, digest)| digest.clone()).unwrap_or_default();
    }
    Ok(())
}
