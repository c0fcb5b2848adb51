//! What a program or library has for others under a name: code, data, or a way to elsewhere.

use object::read::ReadRef;

use super::dynamic::{self, Defined};
use super::image::{Exports, Image, Symbol};
use super::magic::Magic;
use super::{Fault, image};

/// What lies under an exported name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Export {
    /// Code.
    Code,
    /// Data: its address, and its size where the format tells.
    Data(u64, Option<u64>),
    /// Text: where else it is.
    Forward(Vec<u8>),
}

/// The exports of one file.
pub enum Exported<'d, R: ReadRef<'d>> {
    /// A PE image.
    Pe(Box<Image<'d, R>>, Exports),
    /// An ELF file with its symbols, sorted by name.
    Elf(R, Vec<Defined>),
}

impl<'d, R: ReadRef<'d>> Exported<'d, R> {
    /// Reads the exports; nothing when the file is neither.
    ///
    /// # Errors
    /// A [`Fault`] when the file or its table is cut or damaged.
    pub fn open(data: R, magic: Magic) -> Result<Option<Self>, Fault> {
        Ok(match magic {
            Magic::Pe => {
                let image = Image::open(data)?;
                let exports = image.exports()?;
                Some(Self::Pe(Box::new(image), exports))
            }
            Magic::Elf => Some(Self::Elf(data, dynamic::defined(data)?)),
            _ => None,
        })
    }

    /// What lies under this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Export> {
        match self {
            Self::Pe(image, exports) => match exports.find(&Symbol::Name(name.as_bytes()))? {
                image::Export::Forward(text) => Some(Export::Forward(text.to_vec())),
                image::Export::Here(address) if image.is_code(address) => Some(Export::Code),
                image::Export::Here(address) => Some(Export::Data(address.into(), None)),
            },
            Self::Elf(_, symbols) => {
                const FUNC: u8 = 2;
                const IFUNC: u8 = 10;
                let at = symbols.partition_point(|symbol| *symbol.name < *name.as_bytes());
                let symbol = symbols.get(at).filter(|s| *s.name == *name.as_bytes())?;
                Some(match symbol.kind {
                    FUNC | IFUNC => Export::Code,
                    _ => Export::Data(symbol.address, Some(symbol.size)),
                })
            }
        }
    }

    /// `count` bytes at an address, as they are in memory at load, before relocation.
    ///
    /// # Errors
    /// A [`Fault`] when the file does not have them.
    pub fn bytes(&self, address: u64, count: u64) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Pe(image, _) => {
                let address = u32::try_from(address)
                    .map_err(|_| Fault::Damaged("the address lies behind the image".to_owned()))?;
                image.bytes(address, count)
            }
            Self::Elf(data, _) => dynamic::bytes(*data, address, count),
        }
    }
}
