// SPDX-License-Identifier: MIT OR Apache-2.0
//! Switches of a core's timing by name, as a command line, a board's file or Python give them.

/// A value that a switch of a `Timing` holds.
pub trait Switch: Sized {
    /// What may be written, for a sentence.
    const VALUES: &str;
    /// The value of a text.
    fn read(text: &str) -> Option<Self>;
    /// The text of a value.
    fn show(&self) -> String;
}

impl Switch for bool {
    const VALUES: &str = "true or false";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Switch for u8 {
    /// Cycles of one rule of a manual: none takes more.
    const VALUES: &str = "0 to 15 cycles";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|cycles| *cycles < 16)
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

/// Names the switches of a `Timing`; fields behind the braces are none. A field in neither does not compile.
macro_rules! switches {
    ($timing:ident { $($name:ident),* $(,)? } $($other:ident)*) => {
        impl $timing {
            /// Every switch with its value.
            #[must_use]
            pub fn switches(&self) -> Vec<(&'static str, String)> {
                let Self { $($name,)* $($other: _,)* } = self;
                vec![$((stringify!($name), $crate::Switch::show($name))),*]
            }

            /// Sets a switch by its name.
            ///
            /// # Errors
            /// If there is no such switch, or it does not take that value.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                fn read<T: $crate::Switch>(place: &mut T, name: &str, value: &str) -> Result<(), String> {
                    *place = T::read(value)
                        .ok_or_else(|| format!("timing switch `{name}` takes {}, not `{value}`", T::VALUES))?;
                    Ok(())
                }
                match name {
                    $(stringify!($name) => read(&mut self.$name, name, value),)*
                    _ => Err(format!(
                        "this core's timing has no switch `{name}`; it has {}",
                        [$(stringify!($name)),*].join(", ")
                    )),
                }
            }
        }
    };
}
