//! Authenticode: who signed a PE image, and whether the signature is about its bytes.
//!
//! 1. [`layout`] finds the signatures in the image and hashes what they are about.
//! 2. [`message`] takes a signature apart (PKCS #7 as Authenticode has it, in DER).
//! 3. [`cert`] reads what of a certificate matters, and [`chain`] checks that the signer's key made
//!    the signature, and which certificate vouches for which.
//!
//! The encoding is read by RustCrypto's `der`, and the arithmetic of RSA is that of `rsa`. Whatever is not understood is an error, never a signature that is
//! fine. There is no clock and no network: validity in time, time stamps and revocation are not
//! checked.

pub mod cert;
pub mod chain;
pub mod layout;
pub mod message;

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use der::asn1::ObjectIdentifier;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use crate::input::ReadSeek;
use chain::Chain;
use layout::Layout;
use message::Message;

/// Why a signature does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// It cannot be read, or uses what is not checked here.
    Unread(String),
    /// It contradicts itself: altered, or made by another key.
    Wrong(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread(why) | Self::Wrong(why) => f.write_str(why),
        }
    }
}

impl From<der::Error> for Broken {
    fn from(error: der::Error) -> Self {
        Self::Unread(format!("no DER of a signature: {error}"))
    }
}

/// A hash that signatures are made with. MD5 and SHA-1 prove nothing any more and are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Hash {
    /// The hash of this algorithm, or of this way of signing with RSA.
    ///
    /// # Errors
    /// [`Broken::Unread`] for any other.
    pub fn of(oid: ObjectIdentifier) -> Result<Self, Broken> {
        match oid.to_string().as_str() {
            "2.16.840.1.101.3.4.2.1" | "1.2.840.113549.1.1.11" => Ok(Self::Sha256),
            "2.16.840.1.101.3.4.2.2" | "1.2.840.113549.1.1.12" => Ok(Self::Sha384),
            "2.16.840.1.101.3.4.2.3" | "1.2.840.113549.1.1.13" => Ok(Self::Sha512),
            "1.3.14.3.2.26" | "1.2.840.113549.1.1.5" => Err(Broken::Unread(
                "it is made with SHA-1, which proves nothing".to_owned(),
            )),
            "1.2.840.113549.2.5" | "1.2.840.113549.1.1.4" => Err(Broken::Unread(
                "it is made with MD5, which proves nothing".to_owned(),
            )),
            other => Err(Broken::Unread(format!(
                "it is made by the algorithm {other}, which is not checked here; RSA with SHA-2 is"
            ))),
        }
    }

    /// The digest of some bytes.
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
}

/// A signature on an image.
#[derive(Debug)]
pub struct Signature {
    /// How the image was hashed.
    pub hash: Hash,
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
            hash: message.hash,
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
    let hashes: BTreeSet<Hash> = signatures.iter().map(|s| s.hash).collect();
    let hashes: Vec<Hash> = hashes.into_iter().collect();
    let digests = layout.digests(image, &hashes)?;
    for signature in signatures {
        let same = hashes
            .iter()
            .zip(&digests)
            .find(|(hash, _)| **hash == signature.hash);
        signature.actual = same.map(|(_, digest)| digest.clone()).unwrap_or_default();
    }
    Ok(())
}
