// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Armv7E-M core beside Unicorn.

use std::path::{Path, PathBuf};

use sunseal_dev::fuzz::{self, Until};
use sunseal_dev::thumb::Unicorn;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn random_programs_run_as_in_unicorn() {
    let seed = std::env::var("SUNSEAL_SEED").map_or(5, |seed| seed.parse().unwrap());
    let programs = std::env::var("SUNSEAL_PROGRAMS").map_or(6000, |n| n.parse().unwrap());
    let mut target = Unicorn::new(&folder("thumb-fuzz")).unwrap();
    let (report, failure) = fuzz::run(&mut target, seed, Until::Programs(programs)).unwrap();
    println!("{report:#?}");
    if let Some(failure) = failure {
        panic!("{}\n{}", failure.why, failure.test);
    }
    // If nearly all were masked, nothing would be tested.
    assert!(report.instructions > 3 * programs, "{report:?}");
}
