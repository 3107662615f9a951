//! Nothing: this crate is its Cargo.toml.
