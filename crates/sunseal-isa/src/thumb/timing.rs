// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles of the Cortex-M4, and the rules about which sources differ or say nothing.

/// The timing of a Cortex-M4: the technical reference manual's (Arm 100166, r0p1) where it speaks, a
/// named switch where it gives a range, hedges ("might", "normally") or is silent. What the core does is the same on
/// every chip; what the way to its instructions does ([`MEMORY_PATH`](Self::MEMORY_PATH)) is the device's to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// P of a branch to an immediate target, whose address the fetch unit knows early. The manual: 1 to 3.
    /// Delay loops of SUBS and a taken Bcc are calibrated at three cycles a turn by chip vendors'
    /// libraries, hence 1.
    pub refill_direct: u8,
    /// P of a branch to a register (BX, BLX, MOV PC, ADD PC). The manual: 1 to 3.
    pub refill_register: u8,
    /// P behind a load of the program counter: "three cycles for the pipeline reload" (load/store timings).
    pub refill_load: u8,
    /// ISB: "at least what a pipeline refill takes" beyond its own cycle.
    pub refill_barrier: u8,
    /// MRS, MSR and CPS. The manual: 1 or 2.
    pub special_register: u8,
    /// A branch to a 32-bit instruction at an address that is no multiple of four: one cycle more
    /// ("alignment and width of the target instruction"; measured on an STM32L4, compendium.i-0.nl).
    pub refill_unaligned_wide: bool,
    /// Three 32-bit instructions in a row at addresses that are no multiple of four, directly behind an instruction of more
    /// than one cycle or at most one narrow instruction behind a branch, take a cycle more (not in the manual: eprint
    /// 2025/523 as jnk0le's notes quote it, and compendium.i-0.nl's sample_a, measured on an STM32L4).
    pub unaligned_wide_run: bool,
    /// Such a row pays wherever it stands, as compendium.i-0.nl measured it from the flash of an STM32L4. Whole routines
    /// measured on an STM32F407 (cortexm-AES) do not pay in the middle of code.
    pub unaligned_wide_run_anywhere: bool,
    /// Of single stores in such a row, the fourth pays, not the third (same source).
    pub unaligned_wide_run_of_stores: bool,
    /// An IT instruction behind a 16-bit instruction takes no cycle of its own (the manual: "IT folding
    /// may occur"; Armv7-M calls the DWT's FOLDCNT for it).
    pub it_folds: bool,
    /// A load, or a store with a register offset, behind a load takes a cycle less if its address does not come from that
    /// load.
    pub pairs: bool,
    /// So does any other single store: it takes none. Arm's manual refutes it ("LDR R0,[R1,R2]; STR R0,[R3,#20]: normally
    /// three cycles total"); jnk0le's notes (STM32F407) have it.
    pub stores_pair: bool,
    /// Loads with base update pair, too, but for one that uses the register which the one before stepped (same source, an
    /// STM32F407; pqm4's rows, an STM32L4R5, speak against it).
    pub indexed_pairs: bool,
    /// A load directly behind a single store, unless that has a register offset, takes a cycle more: the store is in the
    /// write buffer (same source, and Pornin's notes; the manual: "only felt if another load or store is executed before
    /// completion").
    pub load_waits_for_store: bool,
    /// NOP behind a load, or behind a store with a register offset, takes no cycle (jnk0le's notes).
    pub nop_folds: bool,
    /// A load or store whose address was made by the instruction before waits a cycle.
    pub address_stall: bool,
    /// A load relative to the program counter takes a cycle more; the manual: "might add a cycle".
    pub literal_contention: bool,
    /// Floating-point arithmetic whose result the next instruction uses takes a cycle more.
    pub float_result_stall: bool,
    /// VMOV between one S register and one core register takes two cycles, as TRM table 7-1 has it; measured on an STM32L4
    /// (compendium.i-0.nl, FPU registers): one.
    pub float_move_takes_2: bool,
    /// VDIV and VSQRT go on beside integer instructions; only the next floating-point instruction waits.
    pub float_divide_overlaps: bool,
}

switches!(Timing {
    refill_direct,
    refill_register,
    refill_load,
    refill_barrier,
    special_register,
    refill_unaligned_wide,
    unaligned_wide_run,
    unaligned_wide_run_anywhere,
    unaligned_wide_run_of_stores,
    it_folds,
    pairs,
    stores_pair,
    indexed_pairs,
    load_waits_for_store,
    nop_folds,
    address_stall,
    literal_contention,
    float_result_stall,
    float_move_takes_2,
    float_divide_overlaps,
});

impl Timing {
    /// The switches that belong to flash, cache and bus, or in which boards with one core differ: a device's
    /// `[memory_path]` sets them.
    pub const MEMORY_PATH: [&str; 6] = [
        "refill_unaligned_wide",
        "unaligned_wide_run",
        "unaligned_wide_run_anywhere",
        "unaligned_wide_run_of_stores",
        "literal_contention",
        "indexed_pairs",
    ];

    /// The Cortex-M4 and Cortex-M4F, with the memory path of an STM32F407 without wait states.
    pub const CORTEX_M4: Self = Self {
        refill_direct: 1,
        refill_register: 2,
        refill_load: 3,
        refill_barrier: 3,
        special_register: 2,
        refill_unaligned_wide: true,
        unaligned_wide_run: true,
        unaligned_wide_run_anywhere: false,
        unaligned_wide_run_of_stores: true,
        it_folds: true,
        pairs: true,
        stores_pair: false,
        indexed_pairs: true,
        load_waits_for_store: true,
        nop_folds: true,
        address_stall: true,
        literal_contention: false,
        float_result_stall: true,
        float_move_takes_2: true,
        float_divide_overlaps: true,
    };
}

impl Default for Timing {
    fn default() -> Self {
        Self::CORTEX_M4
    }
}

/// From the acceptance of an exception to the first instruction of its handler, zero wait states (TRM
/// r0p1 3.9.1).
pub(crate) const ENTRY_CYCLES: u32 = 12;
/// From the last instruction of a handler to the first of a pending one (same place).
pub(crate) const TAIL_CHAIN_CYCLES: u32 = 6;
/// Unstacking: as many accesses as entry makes, without the vector: what Arm's documents give as the exit
/// latency of the Cortex-M3 and M4.
pub(crate) const EXIT_CYCLES: u32 = 10;

/// The least cycles of a division.
pub(crate) const DIVIDE_LEAST: u32 = 2;

/// UDIV and SDIV: "2 to 12, with early termination by the number of leading ones and zeros of the operands"
/// (TRM r0p1 table 3-1, note). The manual gives no formula. This one has both ends right and takes four
/// quotient bits a cycle: two cycles where the quotient is zero by the operands' lengths or the divisor
/// is zero, else four and one for each four bits, or part of four, that the quotient may have.
pub(crate) fn divide_cycles(n: u32, m: u32, signed: bool) -> u32 {
    let magnitude = |x: u32| if signed { (x as i32).unsigned_abs() } else { x };
    let (n, m) = (magnitude(n).leading_zeros(), magnitude(m).leading_zeros());
    if m == 32 || n > m { DIVIDE_LEAST } else { 4 + (m - n + 1).div_ceil(4) }
}
