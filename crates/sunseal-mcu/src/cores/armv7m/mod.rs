// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Arm puts around a Cortex-M core: System Control Space with NVIC and SysTick, and the DWT.

pub(crate) mod dwt;
pub(crate) mod scs;
