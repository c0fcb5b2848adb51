//! Inputs that are nearly right: a seed with a few patches. The same numbers make the same input.

/// Numbers that look random and are the same every time: SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of one input.
    pub(crate) fn new(seed: u64, reader: &str, turn: u64) -> Self {
        let name = reader.bytes().fold(seed, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(name ^ turn.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, or 0 when there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }
}

/// The most that an input may grow to.
const LARGEST: usize = 256 << 10;

/// One input out of the seeds of a reader.
pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let pick = |random: &mut Random| seeds.get(random.below(seeds.len())).cloned();
    let mut bytes = pick(random).unwrap_or_default();
    let most = 1 + random.below(12);
    let patches = 1 + random.below(most);
    for _ in 0..patches {
        let other = pick(random).unwrap_or_default();
        patch(random, &mut bytes, &other);
        bytes.truncate(LARGEST);
    }
    bytes
}

/// Changes one thing.
fn patch(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    let len = bytes.len();
    let at = random.below(len);
    match random.below(12) {
        0 => bytes.truncate(at),
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.next().to_le_bytes()[0];
            }
        }
        // Numbers of formats, most of them where formats have them.
        3..=6 => {
            let width = [1, 2, 4, 4, 8][random.below(5)];
            let at = if random.below(4) > 0 {
                at - at % width
            } else {
                at
            };
            let value = number(random, len, at);
            let mut word = value.to_le_bytes()[..width].to_vec();
            if random.below(6) == 0 {
                word.reverse();
            }
            if let Some(place) = bytes.get_mut(at..at + width) {
                place.copy_from_slice(&word);
            }
        }
        // Numbers of texts.
        7 => {
            let digits = bytes.iter().skip(at).position(u8::is_ascii_digit);
            if let Some(from) = digits.map(|by| at + by) {
                let count = bytes[from..]
                    .iter()
                    .take_while(|b| b.is_ascii_digit())
                    .count();
                let text = number(random, len, at).to_string();
                bytes.splice(from..from + count, text.bytes());
            }
        }
        // A piece of it elsewhere, over what is there or in between.
        8 | 9 => {
            let count = random.below(len - at + 1).min(random.below(600));
            let piece = bytes[at..at + count].to_vec();
            let to = random.below(len + 1);
            let over = if random.below(2) == 0 {
                count.min(len - to)
            } else {
                0
            };
            bytes.splice(to..to + over, piece);
        }
        // A piece of another seed.
        10 => {
            let from = random.below(other.len());
            let count = random.below(other.len() - from + 1).min(random.below(600));
            let over = random.below(count + 1).min(len - at);
            bytes.splice(at..at + over, other[from..from + count].iter().copied());
        }
        // The same again and again.
        _ => {
            let count = random.below(64).min(len - at);
            let piece = bytes[at..at + count].repeat(1 + random.below(400));
            bytes.splice(at..at, piece);
        }
    }
}

/// A number that breaks things.
fn number(random: &mut Random, len: usize, at: usize) -> u64 {
    let (len, at) = (len as u64, at as u64);
    match random.below(14) {
        0 => 0,
        1 => 1,
        2 => len,
        3 => len.wrapping_sub(1 + random.next() % 16),
        4 => len + 1 + random.next() % 16,
        // Itself: circles.
        5 => at,
        6 => 0x7fff_ffff,
        7 => 0x8000_0000,
        8 => 0xffff_ffff,
        9 => 0xffff_fff0 + random.next() % 16,
        // 16 EiB.
        10 => u64::MAX - random.next() % 32,
        11 => 1 << random.below(64),
        12 => random.next() % (len + 1),
        _ => random.next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_numbers_make_the_same_input_and_others_another() {
        let seeds = [b"[a]\nn = 12\n".to_vec(), vec![0; 300]];
        let make = |turn| input(&mut Random::new(7, "x", turn), &seeds);
        let all: std::collections::BTreeSet<Vec<u8>> = (0..1_000).map(make).collect();
        assert_eq!(
            (0..1_000)
                .map(make)
                .collect::<std::collections::BTreeSet<_>>(),
            all
        );
        assert!(all.len() > 800, "{}", all.len());
    }

    #[test]
    fn no_seed_is_too_small() {
        for seed in [vec![], vec![1], vec![1, 2, 3]] {
            for turn in 0..2_000 {
                input(&mut Random::new(1, "x", turn), std::slice::from_ref(&seed));
            }
        }
        input(&mut Random::new(1, "x", 0), &[]);
    }
}
