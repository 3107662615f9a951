// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's time in microseconds: the system's, or whatever the requests say.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The request header that drives a driven clock.
pub const TIME_HEADER: &str = "sunseal-time-us";
/// Half of what SQLite's integers hold, so that a time and a duration can be added.
pub const MAX_TIME_US: u64 = i64::MAX as u64 / 2;

/// Where time comes from.
pub enum Clock {
    System,
    /// Microseconds of simulated time: the latest that a request has named.
    Driven(AtomicU64),
}

impl Clock {
    /// A driven clock that goes on where the event log ended.
    pub fn driven(from_us: u64) -> Self {
        Self::Driven(AtomicU64::new(from_us))
    }

    /// The time of a request. A driven clock never goes back: with several senders, the latest
    /// of their times counts.
    pub fn now_us(&self, said_us: Option<u64>) -> u64 {
        match self {
            Self::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                since.as_micros().min(u128::from(MAX_TIME_US)) as u64
            }
            Self::Driven(latest) => {
                let said = said_us.unwrap_or(0);
                latest.fetch_max(said, Ordering::SeqCst).max(said)
            }
        }
    }

    /// The name on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Driven(_) => "driven",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driven_clock_never_goes_back() {
        let clock = Clock::driven(5);
        let times = [None, Some(9), Some(3), None].map(|said| clock.now_us(said));
        assert_eq!(times, [5, 9, 9, 9]);
    }
}
