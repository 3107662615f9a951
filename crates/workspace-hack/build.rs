//! Nothing to do, but without a build script the build dependencies would not count.

fn main() {}
