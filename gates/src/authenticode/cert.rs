//! A certificate (RFC 5280): its names as bytes, its key, and what it may do.
//!
//! Read field by field and not by a crate for certificates, which would bring a table of all
//! object identifiers into every image that a gate runs in.

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, UintRef};
use der::{Decode as _, Tag};
use rsa::{BoxedUint, PublicKey};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::message::{Fields, MOST, RSA, tagged, value};
use super::{Broken, Hash};
use crate::name::hex;

/// A certificate, with the bytes that it is in the file.
pub(super) struct Cert<'m> {
    /// All of it.
    pub(super) whole: &'m [u8],
    /// What its issuer signed.
    pub(super) body: &'m [u8],
    /// Its number.
    pub(super) serial: &'m [u8],
    /// The name of who issued it, in DER.
    pub(super) issuer: &'m [u8],
    /// The name of whose key it has, in DER.
    pub(super) name: &'m [u8],
    /// How its issuer hashed it.
    pub(super) hash: Result<Hash, Broken>,
    /// The signature of its issuer.
    pub(super) signature: &'m [u8],
    /// Whether it may vouch for others.
    pub(super) authority: bool,
    /// Whether it may sign code.
    pub(super) code_signing: bool,
    /// The algorithm of its key, and the key.
    key: (ObjectIdentifier, &'m [u8]),
}

impl<'m> Cert<'m> {
    /// Reads a certificate.
    ///
    /// # Errors
    /// [`Broken::Unread`] when it is none.
    pub(super) fn read(whole: &'m [u8]) -> Result<Self, Broken> {
        let mut outer = Fields::of(whole)?;
        let body = outer.whole()?;
        let algorithm = outer.whole()?;
        let signature = bits(outer.whole()?)?;
        outer.end()?;
        let mut fields = Fields::of(body)?;
        fields.optional(tagged(0))?;
        let serial = fields.next(Tag::Integer)?;
        if fields.whole()? != algorithm {
            let why = "a certificate that names two algorithms for one signature";
            return Err(Broken::Unread(why.to_owned()));
        }
        let issuer = fields.whole()?;
        fields.next(Tag::Sequence)?;
        let name = fields.whole()?;
        let mut info = fields.sequence()?;
        let key = (info.sequence()?.oid()?, bits(info.whole()?)?);
        let mut cert = Self {
            whole,
            body,
            serial,
            issuer,
            name,
            hash: Hash::of(Fields::of(algorithm)?.oid()?),
            signature,
            authority: false,
            code_signing: false,
            key,
        };
        let uses = cert.extensions(fields)?;
        cert.authority &= uses;
        Ok(cert)
    }

    /// Reads the extensions that say what it may do; returns whether its key may sign
    /// certificates.
    fn extensions(&mut self, fields: Fields<'m>) -> Result<bool, Broken> {
        const CONSTRAINTS: &str = "2.5.29.19";
        const KEY_USAGE: &str = "2.5.29.15";
        const PURPOSES: &str = "2.5.29.37";
        const CODE_SIGNING: &str = "1.3.6.1.5.5.7.3.3";
        const KEY_CERT_SIGN: u8 = 0x04;
        let mut signs = true;
        for more in fields.rest(MOST)? {
            let any = AnyRef::from_der(more)?;
            if any.header().tag() != tagged(3) {
                continue;
            }
            for extension in Fields::of(any.value())?.rest(MOST)? {
                let mut extension = Fields::of(extension)?;
                let id = extension.oid()?.to_string();
                extension.optional(Tag::Boolean)?;
                let content = extension.next(Tag::OctetString)?;
                match id.as_str() {
                    CONSTRAINTS => {
                        let is = Fields::of(content)?.optional(Tag::Boolean)?;
                        self.authority = is.is_some_and(|is| is != [0]);
                    }
                    KEY_USAGE => {
                        let uses = BitStringRef::from_der(content)?.raw_bytes().first();
                        signs = uses.is_some_and(|uses| uses & KEY_CERT_SIGN != 0);
                    }
                    PURPOSES => {
                        for purpose in Fields::of(content)?.rest(MOST)? {
                            let purpose: ObjectIdentifier = ObjectIdentifier::from_der(purpose)?;
                            self.code_signing |= purpose.to_string() == CODE_SIGNING;
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(signs)
    }

    /// Its key.
    fn key(&self) -> Result<PublicKey, Broken> {
        let (algorithm, bits) = self.key;
        if algorithm.to_string() != RSA {
            return Err(Broken::Unread(format!(
                "the key of {} is of the algorithm {algorithm}, which is not checked here; RSA is",
                self.subject(),
            )));
        }
        let mut fields = Fields::of(bits)?;
        let mut number = || {
            let number = UintRef::from_der(fields.whole()?)?;
            Ok::<_, Broken>(BoxedUint::from_be_slice_vartime(number.as_bytes()))
        };
        let (n, e) = (number()?, number()?);
        // Below that they can be broken, and above that they cost time.
        PublicKey::new_with_size_limits(n, e, 2048..=8192)
            .map_err(|e| Broken::Unread(format!("the key of {}: {e}", self.subject())))
    }

    /// Whether its key made this signature of these bytes.
    ///
    /// # Errors
    /// [`Broken::Unread`] when the key is none of RSA.
    pub(super) fn made(&self, hash: Hash, bytes: &[u8], signature: &[u8]) -> Result<bool, Broken> {
        let (key, digest) = (self.key()?, hash.digest(bytes));
        let result = match hash {
            Hash::Sha256 => key.pkcs1v15_verify_prehash::<Sha256>(&digest, signature),
            Hash::Sha384 => key.pkcs1v15_verify_prehash::<Sha384>(&digest, signature),
            Hash::Sha512 => key.pkcs1v15_verify_prehash::<Sha512>(&digest, signature),
        };
        Ok(result.is_ok())
    }

    /// Its SHA-256, in hex.
    pub(super) fn thumbprint(&self) -> String {
        hex(&Sha256::digest(self.whole))
    }

    /// Whose key it is, as RFC 4514 writes names: `CN=Example,O=Example Ltd,C=DE`.
    pub(super) fn subject(&self) -> String {
        name(self.name).unwrap_or_else(|_| "a name that cannot be read".to_owned())
    }
}

/// The value of a string of whole bytes.
fn bits(whole: &[u8]) -> Result<&[u8], Broken> {
    let bits = BitStringRef::from_der(whole)?;
    bits.as_bytes()
        .ok_or_else(|| Broken::Unread("a signature of half a byte".to_owned()))
}

/// The short names of RFC 4514, and two that certificates of companies have.
const SHORT: [(&str, &str); 9] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.5", "SERIALNUMBER"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "STREET"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("0.9.2342.19200300.100.1.25", "DC"),
];

/// A name as text, its last part first.
fn name(whole: &[u8]) -> Result<String, Broken> {
    let mut parts = Vec::new();
    for set in Fields::of(whole)?.rest(MOST)? {
        for attribute in Fields::new(value(AnyRef::from_der(set)?, Tag::Set)?)?.rest(MOST)? {
            let mut attribute = Fields::of(attribute)?;
            let id = attribute.oid()?.to_string();
            let short = SHORT.iter().find(|(known, _)| *known == id);
            let id = short.map_or(id.as_str(), |(_, short)| short);
            let any = AnyRef::from_der(attribute.whole()?)?;
            let mut part = format!("{id}=");
            for c in characters(&any).chars() {
                if ",+\"\\<>;".contains(c) {
                    part.push('\\');
                }
                part.push(c);
            }
            parts.push(part);
        }
    }
    parts.reverse();
    Ok(parts.join(","))
}

/// The text of a string, whatever its alphabet.
fn characters(any: &AnyRef<'_>) -> String {
    match any.header().tag() {
        Tag::BmpString => {
            let units = any.value().chunks_exact(2);
            let units = units.map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            char::decode_utf16(units)
                .map(|c| c.unwrap_or('\u{fffd}'))
                .collect()
        }
        _ => String::from_utf8_lossy(any.value()).into_owned(),
    }
}
