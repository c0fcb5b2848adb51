//! A certificate (RFC 5280): its names as bytes, its key, and what it may do.
//!
//! Read field by field and not by a crate for certificates, which would bring a table of all
//! object identifiers into every image that a gate runs in.

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier};
use der::{Decode as _, Tag};
use sha2::{Digest as _, Sha256};

use super::Broken;
use super::algorithm::{Algorithm, Hash};
use super::key::Key;
use super::message::{Fields, MOST, bits, tagged, value};
use crate::name::hex;

/// A certificate, with the bytes that it is in the file.
pub(super) struct Cert<'m> {
    /// All of it.
    pub(super) whole: &'m [u8],
    /// What its issuer signed.
    body: &'m [u8],
    /// Its number.
    pub(super) serial: &'m [u8],
    /// The name of who issued it, in DER.
    pub(super) issuer: &'m [u8],
    /// The name of whose key it has, in DER.
    pub(super) name: &'m [u8],
    /// How its issuer signed it.
    algorithm: Result<Algorithm, Broken>,
    /// The signature of its issuer.
    signature: &'m [u8],
    /// Whether it may vouch for others.
    pub(super) authority: bool,
    /// Whether it may sign code.
    pub(super) code_signing: bool,
    /// Its key, with its algorithm.
    key: &'m [u8],
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
        let key = fields.whole()?;
        let mut cert = Self {
            whole,
            body,
            serial,
            issuer,
            name,
            algorithm: Algorithm::read(algorithm),
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

    /// Whether its key made this signature of these bytes.
    ///
    /// # Errors
    /// [`Broken`] when it cannot be checked, or no such key makes one.
    pub(super) fn made(
        &self,
        algorithm: Algorithm,
        hash: Hash,
        bytes: &[u8],
        signature: &[u8],
    ) -> Result<bool, Broken> {
        Key::read(self.key)
            .and_then(|key| key.made(algorithm, hash, bytes, signature))
            .map_err(|broken| broken.of(&format!("the key of {}", self.subject())))
    }

    /// Whether the key of this other one signed it.
    ///
    /// # Errors
    /// As [`Cert::made`].
    pub(super) fn is_of(&self, issuer: &Self) -> Result<bool, Broken> {
        let of = |broken: Broken| broken.of(&format!("the certificate of {}", self.subject()));
        let algorithm = self.algorithm.clone().map_err(of)?;
        let unsaid = || of(Broken::Unread("it names no hash".to_owned()));
        let hash = algorithm.hash.ok_or_else(unsaid)?;
        issuer.made(algorithm, hash, self.body, self.signature)
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

/// A name as text, its last part first; parts of one set with a `+` between them. What has no
/// short name, or is no text, stands as the bytes of its encoding: `2.5.4.17=#0C0131`.
fn name(whole: &[u8]) -> Result<String, Broken> {
    let mut sets = Vec::new();
    for set in Fields::of(whole)?.rest(MOST)? {
        let mut parts = Vec::new();
        for attribute in Fields::new(value(AnyRef::from_der(set)?, Tag::Set)?)?.rest(MOST)? {
            let mut attribute = Fields::of(attribute)?;
            let id = attribute.oid()?.to_string();
            let short = SHORT.iter().find(|(known, _)| *known == id);
            let encoded = attribute.whole()?;
            let text = characters(&AnyRef::from_der(encoded)?);
            parts.push(match (short, text) {
                (Some((_, short)), Some(text)) => format!("{short}={}", escaped(&text)),
                (short, _) => {
                    let id = short.map_or(id.as_str(), |(_, short)| short);
                    format!("{id}=#{}", hex(encoded).to_uppercase())
                }
            });
        }
        sets.push(parts.join("+"));
    }
    sets.reverse();
    Ok(sets.join(","))
}

/// A value as RFC 4514 writes it (section 2.4). Whoever made the certificate chose it, so what a
/// terminal would not show as it is stands as its bytes, too.
fn escaped(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        let special = ",+\"\\<>;".contains(c)
            || (c == '#' && at == 0)
            || (c == ' ' && (at == 0 || at == last));
        if special {
            out.extend(['\\', c]);
        } else if c == '\'' || c.escape_debug().len() == 1 {
            out.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("\\{byte:02X}"));
            }
        }
    }
    out
}

/// The text of a string, whatever its alphabet; nothing when it is none.
fn characters(any: &AnyRef<'_>) -> Option<String> {
    match any.header().tag() {
        Tag::BmpString => {
            let (pairs, _) = any.value().as_chunks::<2>();
            let units = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
            let text = char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}'));
            Some(text.collect())
        }
        Tag::Utf8String
        | Tag::NumericString
        | Tag::PrintableString
        | Tag::TeletexString
        | Tag::Ia5String
        | Tag::VisibleString
        | Tag::GeneralString => Some(String::from_utf8_lossy(any.value()).into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One field in DER, shorter than 128 bytes.
    fn field(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let value = parts.concat();
        [&[tag, u8::try_from(value.len()).expect("short")], &*value].concat()
    }

    fn attribute(oid: &[u8], value: &[u8]) -> Vec<u8> {
        field(0x30, &[&field(6, &[oid]), value])
    }

    #[test]
    fn sets_are_joined_by_plus_and_what_has_no_short_name_stands_as_its_bytes() {
        const COUNTRY: &[u8] = &[0x55, 4, 6];
        const COMMON: &[u8] = &[0x55, 4, 3];
        // The country where a company is registered: in certificates with extended validation.
        const JURISDICTION: &[u8] = &[0x2b, 6, 1, 4, 1, 0x82, 0x37, 0x3c, 2, 1, 3];
        let printable = |text: &str| field(0x13, &[text.as_bytes()]);
        let bmp: Vec<u8> = "Ö,".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let whole = field(
            0x30,
            &[
                &field(0x31, &[&attribute(JURISDICTION, &printable("DE"))]),
                &field(
                    0x31,
                    &[
                        &attribute(COMMON, &field(0x1e, &[&bmp])),
                        &attribute(COUNTRY, &printable("DE")),
                    ],
                ),
                &field(0x31, &[&attribute(COMMON, &field(2, &[&[7]]))]),
            ],
        );
        assert_eq!(
            name(&whole),
            Ok(r"CN=#020107,CN=Ö\,+C=DE,1.3.6.1.4.1.311.60.2.1.3=#13024445".to_owned())
        );
    }
}
