// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::stops::check;
use crate::support::*;

#[test]
fn runs_stop_in_it_blocks_in_handlers_in_sram_and_at_programmed_flash() {
    // SysTick interrupts a loop of IT blocks and of a subroutine in SRAM; then a word of flash that ran as two
    // moves is programmed to others.
    let p = Program::new(
        "
  ldr r0, =0x20002000
  ldr r1, =0x47703501
  str r1, [r0]
  orr r8, r0, #1
  put SYST_RVR, 150
  put SYST_CVR, 0
  put SYST_CSR, 7
  ldr r9, =0x20001
  mov r4, #40
  mov r5, #0
  mov r6, #0
1:
  tst r4, #1
  ite eq
  addeq r6, #1
  subne r6, #1
  cmp r4, #20
  itttt hi
  addhi r6, #2
  movhi r2, r6
  strhi r2, [r7, #8]
  ldrhi r3, [r7, #8]
  blx r8
  subs r4, #1
  bne 1b
  put SYST_CSR, 0
  blx r9
  put BANK1_MAIN_WEPROT, 0
  put PRG_CTLSTAT, 0xD
  ldr r0, =0x20000
  ldr r1, =0x21002300
  str r1, [r0]
2:
  get r2, FLCTL_IFG
  tst r2, #8
  beq 2b
  blx r9
.global done
done:
  b done
.global tick
tick:
  add r10, #1
  bx lr
",
    )
    .exception(15, "tick");
    let mut r = p.machine();
    // movs r3, #0x0F; movs r1, #0x0F; bx lr
    r.m.write_mem(0x20000, &[0x0F, 0x23, 0x0F, 0x21, 0x70, 0x47]).unwrap();
    let places = check(&mut r.m, 8_000);
    let tick = r.elf.symbol("tick").unwrap().addr & !1;
    assert!([tick, 0x2000_2000, 0x2_0002].iter().all(|p| places.contains(p)), "{places:x?}");
    assert!(places.contains(&(r.elf.symbol("done").unwrap().addr & !1)), "it came to its end");
    assert_eq!((r.reg("R3"), r.reg("R5")), (0, 40));
    assert!(r.reg("R10") > 1, "interrupts came");
}

#[test]
fn runs_stop_behind_accesses_of_every_width() {
    // Bytes, halfwords, words, aligned and not, in IT blocks, several registers at once; SysTick interrupts.
    let p = Program::new(
        "
  put SYST_RVR, 190
  put SYST_CVR, 0
  put SYST_CSR, 7
  ldr r0, =0x20001800
  mov r4, #12
1:
  push {r1-r4, lr}
  strb r4, [r0]
  strh r4, [r0, #2]
  str r4, [r0, #4]
  str r4, [r0, #9]
  ldr r5, [r0, #10]
  strd r4, r5, [r0, #16]
  ldrd r6, r8, [r0, #16]
  tst r4, #1
  ittee eq
  streq r6, [r0, #24]
  ldrbeq r1, [r0, #25]
  strne r5, [r0, #28]
  ldrhne r1, [r0, #30]
  stmia r0, {r4-r6}
  ldmia r0, {r1-r3}
  ldrsb r1, [r0, #1]
  pop {r1-r4, lr}
  subs r4, #1
  bne 1b
  put SYST_CSR, 0
done:
  b done
tick:
  push {r4, lr}
  add r10, #1
  pop {r4, pc}
",
    )
    .exception(15, "tick");
    let mut r = p.machine();
    check(&mut r.m, 3_000);
    assert!(r.reg("R10") > 1, "interrupts came");
    assert_eq!(r.reg("R4"), 0, "it came to its end");
}
