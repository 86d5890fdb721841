//! Random numbers as a function of what they are for, never of timing or of the order of threads.
//!
//! Ours, not rand: the sequence is part of what a seed promises, and generators of rand may change between versions.

mod alias_table;

pub use alias_table::AliasTable;

/// A small generator (SplitMix64) whose whole sequence follows from its key.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The generator for one purpose: `Rng::keyed(seed, &[phase, epoch, item])`.
    pub fn keyed(seed: u64, purpose: &[u64]) -> Rng {
        let state = purpose.iter().fold(mix(seed.wrapping_add(GOLDEN)), |state, &part| {
            mix(state.wrapping_mul(GOLDEN) ^ mix(part.wrapping_add(GOLDEN)))
        });
        Rng { state }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A whole number from 0 up to but not including `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// A number from 0 up to but not including 1, with 24 random bits.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f32) -> bool {
        self.unit() < p
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A random order of `0..len` of which any place can be asked for, without a list: a Feistel network over the next
/// power of four, walked until it falls below `len`.
#[derive(Debug, Clone)]
pub struct Order {
    len: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Order {
    /// The order of `0..len` for one purpose.
    pub fn keyed(len: usize, seed: u64, purpose: &[u64]) -> Order {
        let mut rng = Rng::keyed(seed, purpose);
        let half_bits = (u64::BITS - (len as u64).leading_zeros()).div_ceil(2).max(1);
        Order { len: len as u64, half_bits, keys: std::array::from_fn(|_| rng.bits()) }
    }

    /// The number at `place`, which is below the length.
    pub fn at(&self, place: usize) -> usize {
        debug_assert!((place as u64) < self.len);
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = place as u64;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                (left, right) = (right, left ^ (mix(right ^ key) & mask));
            }
            value = left << self.half_bits | right;
            if value < self.len {
                return value as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_follows_from_the_key() {
        let draw = |seed, purpose: &[u64]| Rng::keyed(seed, purpose).bits();
        assert_eq!(draw(1, &[2, 3]), draw(1, &[2, 3]));
        let keys = [draw(1, &[2, 3]), draw(1, &[3, 2]), draw(2, &[2, 3]), draw(1, &[2]), draw(1, &[2, 3, 0])];
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|b| a != b), "each key has its own sequence");
        }
    }

    #[test]
    fn numbers_below_an_end_are_spread_evenly() {
        let mut rng = Rng::keyed(7, &[]);
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[rng.below(10)] += 1;
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..1000).collect();
        Rng::keyed(1, &[]).shuffle(&mut items);
        assert_ne!(items[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        items.sort_unstable();
        assert!(items.iter().enumerate().all(|(i, &x)| i == x as usize));
    }

    #[test]
    fn an_order_has_every_place_once() {
        for len in [1, 2, 3, 17, 64, 1000] {
            let order = Order::keyed(len, 5, &[1]);
            let mut seen: Vec<usize> = (0..len).map(|place| order.at(place)).collect();
            if len == 1000 {
                let other = Order::keyed(len, 5, &[2]);
                assert!((0..len).filter(|&place| seen[place] == other.at(place)).count() < 10);
                assert!((0..len).filter(|&place| seen[place] == place).count() < 10);
            }
            seen.sort_unstable();
            assert!(seen.iter().enumerate().all(|(place, &value)| place == value), "{len}");
        }
    }
}
