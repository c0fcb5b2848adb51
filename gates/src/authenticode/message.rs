//! A signature taken apart: PKCS #7 signed data (RFC 5652) around the digest of an image.
//!
//! Fields are kept as the bytes that they are in the file: what was signed is these, not what
//! they would be if they were written again.

use std::collections::BTreeSet;

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier};
use der::{Decode as _, Reader as _, SliceReader, Tag, TagNumber};

use super::Broken;
use super::algorithm::{Algorithm, Hash};

/// A signature, as far as its message says.
#[derive(Debug)]
pub struct Message<'m> {
    /// How the image was hashed.
    pub hash: Result<Hash, Broken>,
    /// What came out.
    pub digest: &'m [u8],
    /// The content that the signer's attributes are about: hash and digest of the image.
    pub content: &'m [u8],
    /// Certificates, the signer's among them, in DER; each once, which not every signer minds.
    pub certificates: BTreeSet<&'m [u8]>,
    /// Who signed.
    pub signer: Signer<'m>,
    /// Further signatures inside this one, in DER.
    pub nested: Vec<&'m [u8]>,
}

/// Who signed, and what.
#[derive(Debug)]
pub struct Signer<'m> {
    /// The issuer of the signer's certificate, in DER.
    pub issuer: &'m [u8],
    /// The number of that certificate.
    pub serial: &'m [u8],
    /// How content and attributes were hashed.
    pub hash: Result<Hash, Broken>,
    /// How the key signed.
    pub algorithm: Result<Algorithm, Broken>,
    /// The attributes in DER, as a set: what the key signed.
    pub attributes: Vec<u8>,
    /// The digest of the content, by the attributes.
    pub digest: &'m [u8],
    /// What the key made of it.
    pub signature: &'m [u8],
}

const SIGNED_DATA: &str = "1.2.840.113549.1.7.2";
const INDIRECT_DATA: &str = "1.3.6.1.4.1.311.2.1.4";
const CONTENT_TYPE: &str = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST: &str = "1.2.840.113549.1.9.4";
const NESTED: &str = "1.3.6.1.4.1.311.2.4.1";

/// The tag `[number]` of a field that has others in it.
pub(super) const fn tagged(number: u8) -> Tag {
    Tag::ContextSpecific {
        constructed: true,
        number: TagNumber(number as u32),
    }
}

/// Fields one after the other.
pub(super) struct Fields<'m>(SliceReader<'m>);

impl<'m> Fields<'m> {
    /// The fields in these bytes.
    pub(super) fn new(bytes: &'m [u8]) -> Result<Self, Broken> {
        Ok(Self(SliceReader::new(bytes)?))
    }

    /// The fields of the sequence that these bytes are.
    pub(super) fn of(bytes: &'m [u8]) -> Result<Self, Broken> {
        let any = AnyRef::from_der(bytes)?;
        Self::new(value(any, Tag::Sequence)?)
    }

    /// The next field with its tag and length.
    pub(super) fn whole(&mut self) -> Result<&'m [u8], Broken> {
        Ok(self.0.tlv_bytes()?)
    }

    /// The next field's value; it has this tag.
    pub(super) fn next(&mut self, tag: Tag) -> Result<&'m [u8], Broken> {
        value(self.0.decode::<AnyRef<'m>>()?, tag)
    }

    /// The fields of the next field, a sequence.
    pub(super) fn sequence(&mut self) -> Result<Self, Broken> {
        Self::new(self.next(Tag::Sequence)?)
    }

    /// The next field, an object identifier.
    pub(super) fn oid(&mut self) -> Result<ObjectIdentifier, Broken> {
        Ok(self.0.decode()?)
    }

    /// The next field's value where it has this tag.
    pub(super) fn optional(&mut self, tag: Tag) -> Result<Option<&'m [u8]>, Broken> {
        match !self.0.is_finished() && Tag::peek(&self.0)? == tag {
            true => self.next(tag).map(Some),
            false => Ok(None),
        }
    }

    /// That there is no further field.
    pub(super) fn end(&self) -> Result<(), Broken> {
        match self.0.is_finished() {
            true => Ok(()),
            false => Err(Broken::Unread("a field more than there may be".to_owned())),
        }
    }

    /// The rest, field by field, each with tag and length.
    pub(super) fn rest(mut self, most: usize) -> Result<Vec<&'m [u8]>, Broken> {
        let mut all = Vec::new();
        while !self.0.is_finished() {
            if all.len() == most {
                return Err(Broken::Unread(format!(
                    "more than {most} parts in one place"
                )));
            }
            all.push(self.whole()?);
        }
        Ok(all)
    }
}

pub(super) fn value(any: AnyRef<'_>, tag: Tag) -> Result<&[u8], Broken> {
    let found = any.header().tag();
    match found == tag {
        true => Ok(any.value()),
        false => Err(Broken::Unread(format!("{found} where {tag} is expected"))),
    }
}

/// The value of a string of whole bytes.
pub(super) fn bits(whole: &[u8]) -> Result<&[u8], Broken> {
    let bits = BitStringRef::from_der(whole)?;
    bits.as_bytes()
        .ok_or_else(|| Broken::Unread("a signature of half a byte".to_owned()))
}

/// How many certificates, attributes and further signatures there may be.
pub(super) const MOST: usize = 64;

impl<'m> Message<'m> {
    /// Takes a signature apart.
    ///
    /// # Errors
    /// [`Broken::Unread`] when it is none of Authenticode.
    pub fn read(bytes: &'m [u8]) -> Result<Self, Broken> {
        let mut outer = Fields::of(bytes)?;
        is(outer.oid()?, SIGNED_DATA)?;
        let mut data = Fields::of(outer.next(tagged(0))?)?;
        outer.end()?;
        data.next(Tag::Integer)?;
        data.next(Tag::Set)?;
        let mut wrapped = data.sequence()?;
        is(wrapped.oid()?, INDIRECT_DATA)?;
        let indirect = AnyRef::from_der(wrapped.next(tagged(0))?)?;
        let content = value(indirect, Tag::Sequence)?;
        let mut fields = Fields::new(content)?;
        fields.next(Tag::Sequence)?;
        let mut digest = fields.sequence()?;
        let hash = Hash::of(digest.sequence()?.oid()?);
        let digest = digest.next(Tag::OctetString)?;
        let certificates = match data.optional(tagged(0))? {
            Some(set) => Fields::new(set)?.rest(MOST)?.into_iter().collect(),
            None => BTreeSet::new(),
        };
        data.optional(tagged(1))?;
        let signers = Fields::new(data.next(Tag::Set)?)?.rest(MOST)?;
        data.end()?;
        let [signer] = signers[..] else {
            let why = format!("{} signers, and one is expected", signers.len());
            return Err(Broken::Unread(why));
        };
        let (signer, nested) = Signer::read(signer)?;
        Ok(Self {
            hash,
            digest,
            content,
            certificates,
            signer,
            nested,
        })
    }
}

impl<'m> Signer<'m> {
    fn read(bytes: &'m [u8]) -> Result<(Self, Vec<&'m [u8]>), Broken> {
        let mut fields = Fields::of(bytes)?;
        fields.next(Tag::Integer)?;
        let mut id = fields.sequence()?;
        let (issuer, serial) = (id.whole()?, id.next(Tag::Integer)?);
        let hash = Hash::of(fields.sequence()?.oid()?);
        let raw = fields.whole()?;
        let attributes = value(AnyRef::from_der(raw)?, tagged(0))?;
        let algorithm = Algorithm::read(fields.whole()?);
        let signature = fields.next(Tag::OctetString)?;
        let mut nested = Vec::new();
        let more = fields.optional(tagged(1))?;
        fields.end()?;
        if let Some(more) = more {
            for attribute in Fields::new(more)?.rest(MOST)? {
                let mut attribute = Fields::of(attribute)?;
                if attribute.oid()?.to_string() == NESTED {
                    nested.extend(Fields::new(attribute.next(Tag::Set)?)?.rest(MOST)?);
                }
            }
        }
        let (mut kind, mut digest) = (None, None);
        for attribute in Fields::new(attributes)?.rest(MOST)? {
            let mut attribute = Fields::of(attribute)?;
            let name = attribute.oid()?.to_string();
            let mut values = Fields::new(attribute.next(Tag::Set)?)?;
            match name.as_str() {
                CONTENT_TYPE => kind = Some(values.oid()?),
                MESSAGE_DIGEST => digest = Some(values.next(Tag::OctetString)?),
                _ => {}
            }
        }
        let (Some(kind), Some(digest)) = (kind, digest) else {
            let why = "the signer does not say what was signed";
            return Err(Broken::Unread(why.to_owned()));
        };
        is(kind, INDIRECT_DATA)?;
        // In the file they have the tag of a field; as a set they were signed.
        let mut attributes = raw.to_vec();
        if let Some(tag) = attributes.first_mut() {
            *tag = 0x31;
        }
        let signer = Self {
            issuer,
            serial,
            hash,
            algorithm,
            attributes,
            digest,
            signature,
        };
        Ok((signer, nested))
    }
}

fn is(found: ObjectIdentifier, expected: &str) -> Result<(), Broken> {
    match found.to_string() == expected {
        true => Ok(()),
        false => Err(Broken::Unread(format!(
            "content {found} where {expected} is expected"
        ))),
    }
}
