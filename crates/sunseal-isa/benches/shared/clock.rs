// SPDX-License-Identifier: MIT OR Apache-2.0
//! CPU time of a thread to the nanosecond. `/proc/thread-self/schedstat` holds the same sum, but as of the scheduler's
//! last tick, 4 ms apart: a tenth of a run of 40 ms.

#![allow(dead_code)] // each benchmark uses its part

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

/// Number of POSIX's clock `CLOCK_THREAD_CPUTIME_ID`.
const THREAD_CPU_TIME: i32 = if cfg!(target_os = "macos") { 16 } else { 3 };

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

/// Nanoseconds that this thread ran.
pub fn thread_ns() -> u64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `time` is laid out as the C library's `struct timespec` of a 64-bit system, and outlives the call.
    let failed = unsafe { clock_gettime(THREAD_CPU_TIME, &raw mut time) };
    assert_eq!(failed, 0, "the C library has a clock of the thread's CPU time");
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// The same in seconds.
pub fn thread_s() -> f64 {
    thread_ns() as f64 * 1e-9
}
