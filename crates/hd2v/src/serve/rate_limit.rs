//! A token bucket for each client address: it fills at a steady rate, and each request takes one token.
//!
//! Not by the governor crate: its keyed limiter has to be swept from outside to stay bounded, and the rule itself takes
//! 30 lines.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A bucket holds the tokens of so many seconds.
const BURST_SECONDS: f64 = 10.0;
/// Buckets that are kept; beyond, full ones are dropped.
const MAX_BUCKETS: usize = 10_000;

/// The client that an address belongs to, as limits count: an IPv4 address, or the 64 bits of an IPv6 address that name its network,
/// as one machine may have all addresses of that.
pub fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

struct TokenBucket {
    tokens: f64,
    updated: Instant,
}

/// The buckets of all clients.
pub struct RateLimiter {
    /// Requests per second; 0 for no limit.
    rate: f64,
    buckets: Mutex<HashMap<IpAddr, TokenBucket>>,
}

impl RateLimiter {
    /// Allows `rate` requests per second from each address; 0 for no limit.
    pub fn new(rate: f64) -> RateLimiter {
        RateLimiter { rate, buckets: Mutex::default() }
    }

    /// Takes a token from the address's bucket; false if there is none.
    pub fn admit(&self, address: IpAddr, now: Instant) -> bool {
        if self.rate <= 0.0 {
            return true;
        }
        let capacity = (self.rate * BURST_SECONDS).max(1.0);
        let refilled = |bucket: &TokenBucket| {
            let seconds = now.saturating_duration_since(bucket.updated).as_secs_f64();
            (bucket.tokens + self.rate * seconds).min(capacity)
        };
        let address = client(address);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| refilled(bucket) < capacity);
            // Every client is over its rate: start again rather than grow.
            if buckets.len() >= MAX_BUCKETS {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(address).or_insert(TokenBucket { tokens: capacity, updated: now });
        let tokens = refilled(bucket);
        let admitted = tokens >= 1.0;
        *bucket = TokenBucket { tokens: if admitted { tokens - 1.0 } else { tokens }, updated: now };
        admitted
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let limiter = RateLimiter::new(2.0);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let start = Instant::now();
        assert_eq!((0..30).filter(|_| limiter.admit(one, start)).count(), 20);
        assert!(limiter.admit(other, start), "each address has its own bucket");
        let later = start + Duration::from_secs(1);
        assert_eq!((0..30).filter(|_| limiter.admit(one, later)).count(), 2);
        assert!((0..100).all(|_| RateLimiter::new(0.0).admit(one, start)));
    }

    #[test]
    fn an_ipv6_network_has_one_bucket() {
        let (limiter, now) = (RateLimiter::new(1.0), Instant::now());
        let ask = |last: u16| limiter.admit(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last).into(), now);
        assert_eq!((0..50).filter(|&last| ask(last)).count(), 10);
    }

    #[test]
    fn many_addresses_take_bounded_memory() {
        let limiter = RateLimiter::new(1.0);
        let now = Instant::now();
        for number in 0..3 * MAX_BUCKETS as u32 {
            assert!(limiter.admit(Ipv4Addr::from(number).into(), now));
        }
        assert!(limiter.buckets.lock().expect("a lock").len() <= MAX_BUCKETS);
    }
}
