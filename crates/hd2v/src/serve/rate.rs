//! How often a client may ask: a bucket an address, filled at a steady rate, emptied by requests.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Seconds for which a client may save up.
const SAVED: f64 = 10.0;
/// Addresses that are remembered; beyond, those with full buckets are forgotten.
const ADDRESSES: usize = 10_000;

/// The buckets.
pub struct Rates {
    /// Requests a second; 0 for any number.
    rate: f64,
    buckets: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

impl Rates {
    /// So many requests a second and address.
    pub fn new(rate: f64) -> Rates {
        Rates { rate, buckets: Mutex::default() }
    }

    /// Whether the address may ask now.
    pub fn admit(&self, address: IpAddr, now: Instant) -> bool {
        if self.rate <= 0.0 {
            return true;
        }
        let most = (self.rate * SAVED).max(1.0);
        let filled = |&(left, last): &(f64, Instant)| {
            (left + self.rate * now.saturating_duration_since(last).as_secs_f64()).min(most)
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= ADDRESSES && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| filled(bucket) < most);
            // All of them ask too much: none is remembered for ever.
            if buckets.len() >= ADDRESSES {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(address).or_insert((most, now));
        let left = filled(bucket);
        *bucket = (if left >= 1.0 { left - 1.0 } else { left }, now);
        left >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let rates = Rates::new(2.0);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let start = Instant::now();
        assert_eq!((0..30).filter(|_| rates.admit(one, start)).count(), 20);
        assert!(rates.admit(other, start), "others are not concerned");
        let later = start + Duration::from_secs(1);
        assert_eq!((0..30).filter(|_| rates.admit(one, later)).count(), 2);
        assert!((0..100).all(|_| Rates::new(0.0).admit(one, start)));
    }

    #[test]
    fn many_addresses_take_bounded_memory() {
        let rates = Rates::new(1.0);
        let now = Instant::now();
        for number in 0..3 * ADDRESSES as u32 {
            assert!(rates.admit(Ipv4Addr::from(number).into(), now));
        }
        assert!(rates.buckets.lock().expect("a lock").len() <= ADDRESSES);
    }
}
