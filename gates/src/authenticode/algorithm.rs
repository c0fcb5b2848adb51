//! The algorithms of signatures: how bytes were hashed, and what the key made of the digest.

use std::fmt;

use der::asn1::{AnyRef, ObjectIdentifier};
use der::{Decode as _, Tag};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::Broken;
use super::message::{Fields, tagged, value};

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
    /// The hash of this algorithm.
    ///
    /// # Errors
    /// [`Broken`] for any other.
    pub fn of(oid: ObjectIdentifier) -> Result<Self, Broken> {
        match oid.to_string().as_str() {
            "2.16.840.1.101.3.4.2.1" => Ok(Self::Sha256),
            "2.16.840.1.101.3.4.2.2" => Ok(Self::Sha384),
            "2.16.840.1.101.3.4.2.3" => Ok(Self::Sha512),
            "1.3.14.3.2.26" => Err(Broken::weak("SHA-1")),
            "1.2.840.113549.2.5" => Err(Broken::weak("MD5")),
            other => Err(Broken::Unread(format!(
                "it is made by the algorithm {other}, which is not checked here; SHA-2 is"
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

/// What a key makes of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// RSA as PKCS #1 1.5 has it.
    Rsa,
    /// RSA-PSS, with as many bytes of salt; the mask is made with the same hash.
    Pss(usize),
    /// ECDSA.
    Ecdsa,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rsa => "RSA",
            Self::Pss(_) => "RSA-PSS",
            Self::Ecdsa => "ECDSA",
        })
    }
}

/// A way to sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    /// What the key does.
    pub scheme: Scheme,
    /// The hash that belongs to it; none where it is said elsewhere.
    pub hash: Option<Hash>,
}

/// A key of RSA, and a signature by it whose hash is said elsewhere.
pub(super) const RSA: &str = "1.2.840.113549.1.1.1";
/// RSA-PSS: a signature, or a key for nothing else.
pub(super) const PSS: &str = "1.2.840.113549.1.1.10";
/// A key on an elliptic curve, and what Microsoft calls a signature by it.
pub(super) const CURVE: &str = "1.2.840.10045.2.1";

impl Algorithm {
    /// Reads an algorithm and its parameters (RFC 4055, RFC 5758).
    ///
    /// # Errors
    /// [`Broken`] when it is none that is checked here.
    pub fn read(whole: &[u8]) -> Result<Self, Broken> {
        let mut fields = Fields::of(whole)?;
        let oid = fields.oid()?.to_string();
        let (scheme, hash) = match oid.as_str() {
            RSA => (Scheme::Rsa, None),
            "1.2.840.113549.1.1.11" => (Scheme::Rsa, Some(Hash::Sha256)),
            "1.2.840.113549.1.1.12" => (Scheme::Rsa, Some(Hash::Sha384)),
            "1.2.840.113549.1.1.13" => (Scheme::Rsa, Some(Hash::Sha512)),
            PSS => return Self::pss(fields),
            CURVE => (Scheme::Ecdsa, None),
            "1.2.840.10045.4.3.2" => (Scheme::Ecdsa, Some(Hash::Sha256)),
            "1.2.840.10045.4.3.3" => (Scheme::Ecdsa, Some(Hash::Sha384)),
            "1.2.840.10045.4.3.4" => (Scheme::Ecdsa, Some(Hash::Sha512)),
            "1.2.840.113549.1.1.5" | "1.2.840.10045.4.1" => return Err(Broken::weak("SHA-1")),
            "1.2.840.113549.1.1.4" => return Err(Broken::weak("MD5")),
            other => {
                return Err(Broken::Unread(format!(
                    "it is made by the algorithm {other}, which is not checked here; RSA, \
                     RSA-PSS and ECDSA with SHA-2 are"
                )));
            }
        };
        Ok(Self { scheme, hash })
    }

    /// The parameters of RSA-PSS. Those that are left out mean SHA-1.
    fn pss(mut fields: Fields<'_>) -> Result<Self, Broken> {
        /// How a mask is made; RFC 8017 has no other way.
        const MGF1: &str = "1.2.840.113549.1.1.8";
        let unread = |why: &str| Broken::Unread(format!("RSA-PSS {why}"));
        let mut fields = fields.sequence()?;
        let hash = match fields.optional(tagged(0))? {
            Some(hash) => Hash::of(Fields::of(hash)?.oid()?)?,
            None => return Err(Broken::weak("SHA-1")),
        };
        let Some(mask) = fields.optional(tagged(1))? else {
            return Err(Broken::weak("SHA-1"));
        };
        let mut mask = Fields::of(mask)?;
        if mask.oid()?.to_string() != MGF1 {
            return Err(unread("with a mask that nobody defined"));
        }
        if Hash::of(mask.sequence()?.oid()?)? != hash {
            return Err(unread("with one hash for the digest and one for the mask"));
        }
        let salt = match fields.optional(tagged(2))? {
            Some(salt) => match value(AnyRef::from_der(salt)?, Tag::Integer)? {
                [salt @ 0..0x80] => usize::from(*salt),
                // OpenSSL fills the whole signature with salt, unless it is told otherwise.
                [high @ 0..4, low] => usize::from(*high) << 8 | usize::from(*low),
                _ => return Err(unread("with more salt than there is room in a signature")),
            },
            None => 20,
        };
        if let Some(trailer) = fields.optional(tagged(3))?
            && value(AnyRef::from_der(trailer)?, Tag::Integer)? != [1]
        {
            return Err(unread("with a trailer that nobody defined"));
        }
        fields.end()?;
        Ok(Self {
            scheme: Scheme::Pss(salt),
            hash: Some(hash),
        })
    }
}
