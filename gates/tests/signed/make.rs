//! Certificates and signatures, made here: as little as Authenticode needs, and each part of it
//! can be made wrong.

use der::asn1::ObjectIdentifier;
use gates::authenticode::algorithm::Hash;
use gates::fixture;
use rsa::rand_core::{TryCryptoRng, TryRng};
use rsa::signature::SignatureEncoding as _;
use rsa::signature::hazmat::{PrehashSigner as _, RandomizedPrehashSigner as _};
use rsa::{BoxedUint, PrivateKey};
use sha2::{Digest as _, Sha256};

/// The primes of three keys that sign nothing but these tests.
const KEYS: [(&str, &str); 3] = [
    (
        "f528f59ffeed05ded4112b2e288b13772daeba05674c3d80c457724b01850ece\
         8a5ab7597a42546d73140ebea38a28d19c74aad38f56088b12cbadf56476a61a\
         aa8eeb353d1b8b49cb296c9bb02b91306de0b577127962041ca8044e2ba35b12\
         8f9369051cc59b7a5ebfef43536f993ca2cba360c4b52bf57638b8b1e498cabf",
        "e102c1bc4f40075e718d3f9adc37ee768cdb566c6dfde8f42244d1e9ecdfe434\
         28630be85cf79bbed6021d284231966939157cb412a4f53d3d43bd6d3aa7b53e\
         e1507a7fc959876e54d56632ed477ab4372a27d4708d3f3aa7b34e35f973d7f9\
         93959ea045ad80ae0c7131e6a0c9e3b8cd80861cb110e20b9dcc4a85e9168f67",
    ),
    (
        "e7c25f07f9d46750da090b015cbdaf46d7a07bd9047bb9561985de64e8b1ad84\
         2cf53b274ae58fe1fd739406054ab1f678645457e3e1b876e418e4d0ea262b5c\
         8ffaa5d46e7a71da94319e161f3fc1d2e73efced7d622a2b001e5e6c28cd33bb\
         d8f6c4ede1dc0167c8087e9850ad998ff887f1e7132854b963432ad6900417d1",
        "b7a0fabf17dab4e676a97d75f6212dbe003ccba5178db7aae7b183db129634e2\
         d58895e42bca84e7e219219653acb6310b3428b53a4f29d8852f12cb6b33fa1a\
         de5c3a8e12d26074fb63f80ec12892b00c15446a7e396b78fd7c0c4e7bef1d1a\
         dad804418091014b60c4fd1b3a7af79bf1a25287b144235a52b61eded9891307",
    ),
    (
        "dbe34cf1947d166d54ceb49096891048e793d046ee3941dfb4f59c1dc6f930b0\
         3962efdefa63e3a77291c870e701fbbff1b4d9950d60e6d73b5be5310bee1bd0\
         60cd899824561b226a456715c51a818208fe75337d26fdf9dee67e0805a48bb0\
         3936638d4d08516cf19de0f4b766234e5945a6e56234dc9db4e5d23c62bf2fa5",
        "d3725e8689dcdeaf67be9f66225312c06f2fceb0aa04946b87067a2464d49fc2\
         3dac46070fa9f6da3b697bdc90b3416f6eaaa4fae36bd168b43a79c28396059d\
         34909c6308a12685fdc0a819a6c2fb39d4ae45630dfd5afa78f21efc0eee2269\
         42c92e1e8df35713e6629a4f491c81e005f7599acdba63db5426223c62bc2d63",
    ),
];

/// The key of this number.
fn key(number: usize) -> PrivateKey {
    let prime = |text: &str| {
        let bytes: Vec<u8> = (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect();
        BoxedUint::from_be_slice_vartime(&bytes)
    };
    let (p, q) = KEYS[number];
    PrivateKey::from_p_q(prime(p), prime(q), BoxedUint::from(65537_u64)).unwrap()
}

/// The numbers of further keys: on P-256, on P-384, and the second of [`KEYS`] as one for PSS alone.
pub(crate) const P256: usize = 3;
pub(crate) const P384: usize = 4;
pub(crate) const PSS: usize = 5;

fn p256() -> p256::ecdsa::SigningKey {
    p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap()
}

fn p384() -> p384::ecdsa::SigningKey {
    p384::ecdsa::SigningKey::from_slice(&[7; 48]).unwrap()
}

/// No secret is kept here: the same numbers every time.
struct Numbers(u64);

impl TryRng for Numbers {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok((self.try_next_u64()? >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for byte in bytes {
            *byte = (self.try_next_u64()? >> 56) as u8;
        }
        Ok(())
    }
}

impl TryCryptoRng for Numbers {}

/// The salt of signatures by RSA-PSS.
const SALT: u16 = 24;

fn sign(number: usize, hash: Hash, bytes: &[u8]) -> Vec<u8> {
    let digest = hash.digest(bytes);
    let pair = |r: &[u8], s: &[u8]| sequence(&[&positive(r), &positive(s)]);
    match number {
        P256 => {
            let made: p256::ecdsa::Signature = p256().sign_prehash(&digest).unwrap();
            let (r, s) = made.split_bytes();
            pair(&r, &s)
        }
        P384 => {
            let made: p384::ecdsa::Signature = p384().sign_prehash(&digest).unwrap();
            let (r, s) = made.split_bytes();
            pair(&r, &s)
        }
        PSS => {
            let key = rsa::pss::SigningKey::<Sha256>::new_with_salt_len(key(1), SALT.into());
            let made = key.sign_prehash_with_rng(&mut Numbers(1), &digest);
            made.unwrap().to_vec()
        }
        _ => key(number).pkcs1v15_sign::<Sha256>(bytes).unwrap(),
    }
}

/// What a key and its hash for certificates are called there.
fn signs(number: usize) -> (Hash, Vec<u8>) {
    let ecdsa = |text| sequence(&[&oid(text)]);
    match number {
        P256 => (Hash::Sha256, ecdsa("1.2.840.10045.4.3.2")),
        P384 => (Hash::Sha384, ecdsa("1.2.840.10045.4.3.3")),
        PSS => (Hash::Sha256, pss(SHA256, SHA256, SALT)),
        _ => (Hash::Sha256, algorithm("1.2.840.113549.1.1.11")),
    }
}

/// RSA-PSS with these parameters.
pub(crate) fn pss(hash: &str, mask: &str, salt: u16) -> Vec<u8> {
    let mask = sequence(&[&oid("1.2.840.113549.1.1.8"), &algorithm(mask)]);
    let parameters = sequence(&[
        &field(0xa0, &[&algorithm(hash)]),
        &field(0xa1, &[&mask]),
        &field(0xa2, &[&positive(&salt.to_be_bytes())]),
    ]);
    sequence(&[&oid("1.2.840.113549.1.1.10"), &parameters])
}

/// A number in DER: without zeros in front but for one that says it is positive.
fn positive(bytes: &[u8]) -> Vec<u8> {
    let first = bytes.iter().position(|b| *b != 0).unwrap();
    let sign = &[0][..usize::from(bytes[first] >= 0x80)];
    field(2, &[sign, &bytes[first..]])
}

/// A public key in a certificate.
fn public(number: usize) -> Vec<u8> {
    use rsa::traits::PublicKeyParts as _;
    let point = |curve: &str, bytes: &[u8]| {
        let kind = sequence(&[&oid("1.2.840.10045.2.1"), &oid(curve)]);
        sequence(&[&kind, &field(3, &[&[0], bytes])])
    };
    match number {
        P256 => point(
            "1.2.840.10045.3.1.7",
            p256().verifying_key().to_sec1_point(true).as_bytes(),
        ),
        P384 => point(
            "1.3.132.0.34",
            p384().verifying_key().to_sec1_point(false).as_bytes(),
        ),
        _ => {
            let kind = match number {
                PSS => sequence(&[&oid("1.2.840.113549.1.1.10")]),
                _ => algorithm(RSA),
            };
            let key = key(if number == PSS { 1 } else { number }).to_public_key();
            let bits = sequence(&[
                &positive(&key.n().to_be_bytes()),
                &positive(&key.e().to_be_bytes()),
            ]);
            sequence(&[&kind, &field(3, &[&[0], &bits])])
        }
    }
}

/// A field: tag, length, value.
pub(crate) fn field(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let length = value.len();
    let mut out = vec![tag];
    match length {
        0..0x80 => out.push(length as u8),
        0x80..0x100 => out.extend([0x81, length as u8]),
        _ => out.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    out.extend(value);
    out
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    field(0x30, parts)
}

fn oid(text: &str) -> Vec<u8> {
    field(6, &[ObjectIdentifier::new_unwrap(text).as_bytes()])
}

/// An algorithm without parameters.
fn algorithm(text: &str) -> Vec<u8> {
    sequence(&[&oid(text), &[5, 0]])
}

pub(crate) const SHA256: &str = "2.16.840.1.101.3.4.2.1";
const RSA: &str = "1.2.840.113549.1.1.1";

fn name(common: &str) -> Vec<u8> {
    let attribute = sequence(&[&oid("2.5.4.3"), &field(0x0c, &[common.as_bytes()])]);
    sequence(&[&field(0x31, &[&attribute])])
}

/// A certificate to make.
#[derive(Clone, Copy)]
pub(crate) struct Cert {
    pub(crate) subject: &'static str,
    pub(crate) issuer: &'static str,
    /// The number of its key, and of its issuer's.
    pub(crate) keys: (usize, usize),
    pub(crate) ca: bool,
    /// What it is for: signing code, or serving.
    pub(crate) code: bool,
}

pub(crate) const ROOT: Cert = Cert {
    subject: "Root",
    issuer: "Root",
    keys: (0, 0),
    ca: true,
    code: false,
};

pub(crate) const LEAF: Cert = Cert {
    subject: "Example",
    issuer: "Root",
    keys: (1, 0),
    ca: false,
    code: true,
};

impl Cert {
    pub(crate) fn der(&self) -> Vec<u8> {
        let (hash, algorithm) = signs(self.keys.1);
        let time = |text: &str| field(0x17, &[text.as_bytes()]);
        let validity = sequence(&[&time("260101000000Z"), &time("490101000000Z")]);
        let extension = |id: &str, value: &[u8]| sequence(&[&oid(id), &field(4, &[value])]);
        let constraints = match self.ca {
            true => sequence(&[&[1, 1, 0xff]]),
            false => sequence(&[]),
        };
        let purpose = match self.code {
            true => "1.3.6.1.5.5.7.3.3",
            false => "1.3.6.1.5.5.7.3.1",
        };
        let extensions = sequence(&[
            &extension("2.5.29.19", &constraints),
            &extension("2.5.29.37", &sequence(&[&oid(purpose)])),
        ]);
        let body = sequence(&[
            &[0xa0, 3, 2, 1, 2],
            &self.serial(),
            &algorithm,
            &name(self.issuer),
            &validity,
            &name(self.subject),
            &public(self.keys.0),
            &field(0xa3, &[&extensions]),
        ]);
        let signature = sign(self.keys.1, hash, &body);
        sequence(&[&body, &algorithm, &field(3, &[&[0], &signature])])
    }

    fn serial(&self) -> Vec<u8> {
        field(2, &[&[1 + self.subject.len() as u8]])
    }

    /// Its thumbprint.
    pub(crate) fn thumbprint(&self) -> String {
        gates::name::hex(&Sha256::digest(self.der()))
    }
}

/// A signature to make.
pub(crate) struct Signature {
    /// Certificates, the signer's first.
    pub(crate) certificates: Vec<Cert>,
    /// The number of the key that signs.
    pub(crate) key: usize,
    /// The algorithm by which the image is said to be hashed.
    pub(crate) hash: &'static str,
    /// Bytes turned over after the signing: of the content, of the attributes.
    pub(crate) altered: (bool, bool),
    /// Bytes behind the DER, inside the table.
    pub(crate) behind: Vec<u8>,
    /// How the key signs, in DER, where it is not what [`Signature::algorithm`] takes.
    pub(crate) algorithm: Option<Vec<u8>>,
    /// A signature inside this one.
    pub(crate) nested: Option<Box<Signature>>,
}

impl Default for Signature {
    fn default() -> Self {
        Self {
            certificates: vec![LEAF, ROOT],
            key: 1,
            hash: SHA256,
            altered: (false, false),
            behind: Vec::new(),
            algorithm: None,
            nested: None,
        }
    }
}

impl Signature {
    /// How its key signs, in DER.
    pub(crate) fn algorithm(&self) -> Vec<u8> {
        match (&self.algorithm, self.key) {
            (Some(other), _) => other.clone(),
            (None, P256) => sequence(&[&oid("1.2.840.10045.4.3.2")]),
            // As Microsoft's tools write it, with the hash said beside it.
            (None, P384) => sequence(&[&oid("1.2.840.10045.2.1")]),
            (None, PSS) => pss(SHA256, SHA256, SALT),
            (None, _) => algorithm(RSA),
        }
    }

    /// The signature of an image with this digest.
    pub(crate) fn der(&self, digest: &[u8]) -> Vec<u8> {
        const INDIRECT: &str = "1.3.6.1.4.1.311.2.1.4";
        // No flags, and no name of the file.
        let file = sequence(&[&[3, 1, 0], &[0xa0, 4, 0xa2, 2, 0x80, 0]]);
        let kind = sequence(&[&oid("1.3.6.1.4.1.311.2.1.15"), &file]);
        let content = |digest: &[u8]| {
            let digest = sequence(&[&algorithm(self.hash), &field(4, &[digest])]);
            [kind.clone(), digest].concat()
        };
        let signed = content(digest);
        let mut shown = digest.to_vec();
        if self.altered.0 {
            shown[0] ^= 1;
        }
        let attribute = |id: &str, value: &[u8]| sequence(&[&oid(id), &field(0x31, &[value])]);
        let mut attributes = [
            attribute("1.2.840.113549.1.9.3", &oid(INDIRECT)),
            attribute(
                "1.2.840.113549.1.9.4",
                &field(4, &[&Sha256::digest(&signed)]),
            ),
            attribute("1.3.6.1.4.1.311.2.1.11", &sequence(&[])),
        ]
        .concat();
        let signature = sign(self.key, Hash::Sha256, &field(0x31, &[&attributes]));
        if self.altered.1 {
            // The last byte of the first attribute: another kind of content would be told as such,
            // so the one that says nothing of the digest.
            let last = attributes.len() - 1;
            attributes[last - 1..].copy_from_slice(&[5, 0]);
        }
        let leaf = &self.certificates[0];
        let nested = self.nested.iter().map(|nested| {
            let one = attribute("1.3.6.1.4.1.311.2.4.1", &nested.der(digest));
            field(0xa1, &[&one])
        });
        let signer = sequence(&[
            &[2, 1, 1],
            &sequence(&[&name(leaf.issuer), &leaf.serial()]),
            &algorithm(SHA256),
            &field(0xa0, &[&attributes]),
            &self.algorithm(),
            &field(4, &[&signature]),
            &nested.collect::<Vec<_>>().concat(),
        ]);
        let certificates: Vec<u8> = self.certificates.iter().flat_map(Cert::der).collect();
        let data = sequence(&[
            &[2, 1, 1],
            &field(0x31, &[&algorithm(SHA256)]),
            &sequence(&[
                &oid(INDIRECT),
                &field(0xa0, &[&sequence(&[&content(&shown)])]),
            ]),
            &field(0xa0, &[&certificates]),
            &field(0x31, &[&signer]),
        ]);
        sequence(&[&oid("1.2.840.113549.1.7.2"), &field(0xa0, &[&data])])
    }

    /// An image that is signed so. Its headers are those of the fixtures.
    pub(crate) fn on(&self, image: &[u8]) -> Vec<u8> {
        signed(image, &[self])
    }
}

/// Where a fixture has its checksum, and where the place of its signatures.
pub(crate) const LEFT_OUT: [std::ops::Range<usize>; 2] = [
    0x40 + 24 + 64..0x40 + 24 + 68,
    fixture::PE_DIRECTORIES + 32..fixture::PE_DIRECTORIES + 40,
];

/// An image with several signatures.
pub(crate) fn signed(image: &[u8], signatures: &[&Signature]) -> Vec<u8> {
    let mut bytes = image.to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let [checksum, entry] = LEFT_OUT;
    let covered = [
        &bytes[..checksum.start],
        &bytes[checksum.end..entry.start],
        &bytes[entry.end..],
    ];
    let digest = Sha256::digest(covered.concat());
    let mut table = Vec::new();
    for signature in signatures {
        let mut body = [signature.der(&digest), signature.behind.clone()].concat();
        body.resize(body.len().next_multiple_of(8), 0);
        table.extend((body.len() as u32 + 8).to_le_bytes());
        table.extend([0, 2, 2, 0]);
        table.extend(body);
    }
    let at = bytes.len() as u32;
    bytes[entry.start..entry.start + 4].copy_from_slice(&at.to_le_bytes());
    bytes[entry.start + 4..entry.end].copy_from_slice(&(table.len() as u32).to_le_bytes());
    bytes.extend(table);
    bytes
}
