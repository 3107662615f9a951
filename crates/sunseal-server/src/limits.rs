// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests a second that one token, and one address, may make.
//!
//! A bucket each, filled at the rate and holding two seconds of it. Real time, not the simulated one: it is the
//! processor and the disk that are kept from being taken by one caller.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Seconds of its rate that a caller may save up.
const SAVED_S: f64 = 2.0;
/// Callers that are remembered at most; who is forgotten begins with a full bucket.
const MAX_CALLERS: usize = 16_384;

/// Caller whose requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The bearer of a token.
    Token(i64),
    /// Whoever calls from there.
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// The rates, and what each caller has left.
#[derive(Debug, Default)]
pub struct Limits {
    /// Requests a second of one token; 0: as many as come.
    pub per_token: u32,
    /// Requests a second of one address; 0: as many as come.
    pub per_address: u32,
    buckets: Mutex<HashMap<Caller, Bucket>>,
}

impl Limits {
    /// With nobody counted yet.
    pub fn new(per_token: u32, per_address: u32) -> Self {
        Self { per_token, per_address, ..Self::default() }
    }

    /// Takes one request from the caller's bucket, or says how long until there is one.
    pub fn take(&self, caller: Caller, now: Instant) -> Result<(), Duration> {
        let rate = f64::from(match caller {
            Caller::Token(_) => self.per_token,
            Caller::Address(_) => self.per_address,
        });
        if rate == 0.0 {
            return Ok(());
        }
        let full = rate * SAVED_S;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_CALLERS && !buckets.contains_key(&caller) {
            // Whoever has been silent for as long as a bucket takes to fill is as good as new.
            buckets.retain(|_, bucket| (now - bucket.at).as_secs_f64() < SAVED_S);
            if buckets.len() >= MAX_CALLERS {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(caller).or_insert(Bucket { left: full, at: now });
        let filled = bucket.left + now.saturating_duration_since(bucket.at).as_secs_f64() * rate;
        *bucket = Bucket { left: filled.min(full), at: now };
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / rate));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_its_rate_and_two_seconds_saved_and_takes_nothing_from_another() {
        let limits = Limits::new(10, 0);
        let (begun, a, b) = (Instant::now(), Caller::Token(1), Caller::Token(2));
        let taken = |caller, ms| {
            let at = begun + Duration::from_millis(ms);
            (0..100).take_while(|_| limits.take(caller, at).is_ok()).count()
        };
        assert_eq!((taken(a, 0), taken(a, 0), taken(b, 0)), (20, 0, 20));
        assert_eq!((taken(a, 500), taken(a, 60_000)), (5, 20));
        let wait = limits.take(a, begun + Duration::from_secs(60)).unwrap_err();
        assert_eq!(wait, Duration::from_millis(100));
        let free = Caller::Address([127, 0, 0, 1].into());
        assert_eq!(taken(free, 0), 100);
    }

    #[test]
    fn addresses_without_end_do_not_fill_the_memory() {
        let limits = Limits::new(0, 1);
        let now = Instant::now();
        for number in 0..100_000_u32 {
            let _ = limits.take(Caller::Address(number.to_be_bytes().into()), now);
        }
        assert!(limits.buckets.lock().unwrap().len() <= MAX_CALLERS);
    }
}
