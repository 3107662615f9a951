// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs Thumb programs in Unicorn's Cortex-M4: requests on standard input, answers on standard output, both
// in the byte order of the machine. See unicorn.rs for the records.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

enum { CODE = 0x00010000, RAM = 0x20000000, PROGRAM = 0x2000 };

// Before all requests: what is mapped.
struct memory {
  uint32_t code_bytes;
  uint32_t ram_bytes;
  uint32_t ram_runs; // whether RAM holds code: trampolines
};

struct state {
  uint32_t r[16]; // r15: on request where to begin, in the answer where it stopped
  uint32_t apsr;
  uint32_t fpscr;
  uint32_t s[32];
}; // and all of RAM behind it

struct request {
  uint32_t most; // instructions
  uint32_t until; // the address before which it stops
  uint32_t program_bytes;
  struct state state;
}; // and the program behind RAM

struct answer {
  uint32_t error;
  struct state state;
};

static void must(uc_err err, const char *what) {
  if (err != UC_ERR_OK) {
    fprintf(stderr, "unicorn: %s: %s\n", what, uc_strerror(err));
    exit(1);
  }
}

static int code_register(int i) {
  return i < 13 ? UC_ARM_REG_R0 + i : i == 13 ? UC_ARM_REG_SP : i == 14 ? UC_ARM_REG_LR : UC_ARM_REG_PC;
}

static void *bytes(size_t count) {
  void *p = calloc(1, count);
  if (!p) exit(1);
  return p;
}

int main(void) {
  struct memory size;
  struct request request;
  struct answer answer;
  uc_engine *uc;
  if (fread(&size, sizeof size, 1, stdin) != 1) return 1;
  uint8_t *code = bytes(size.code_bytes), *ram = bytes(size.ram_bytes);
  must(uc_open(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, &uc), "open");
  must(uc_ctl_set_cpu_model(uc, UC_CPU_ARM_CORTEX_M4), "model");
  must(uc_mem_map(uc, CODE, size.code_bytes, UC_PROT_ALL), "map code");
  must(uc_mem_map(uc, RAM, size.ram_bytes, size.ram_runs ? UC_PROT_ALL : UC_PROT_READ | UC_PROT_WRITE), "map RAM");
  // A first floating-point instruction (VMOV.F32 S0, S0), or the program's first would reset FPSCR.
  static const uint8_t warm[] = {0xB0, 0xEE, 0x40, 0x0A};
  must(uc_mem_write(uc, CODE, warm, sizeof warm), "code");
  must(uc_emu_start(uc, CODE | 1, CODE + sizeof warm, 0, 1), "first floating-point instruction");
  uint32_t written = sizeof warm; // bytes of code that may not be zero
  while (fread(&request, sizeof request, 1, stdin) == 1) {
    struct state *state = &request.state;
    memset(code, 0, written);
    if (request.program_bytes > size.code_bytes - PROGRAM || fread(ram, size.ram_bytes, 1, stdin) != 1 ||
        fread(code + PROGRAM, 1, request.program_bytes, stdin) != request.program_bytes) {
      fprintf(stderr, "unicorn: a request is cut short\n");
      return 1;
    }
    const uint32_t end = PROGRAM + request.program_bytes;
    must(uc_ctl_remove_cache(uc, CODE, CODE + size.code_bytes), "forget code");
    must(uc_mem_write(uc, CODE, code, end > written ? end : written), "code");
    written = end;
    must(uc_mem_write(uc, RAM, ram, size.ram_bytes), "RAM");
    for (int i = 0; i < 15; i++) must(uc_reg_write(uc, code_register(i), &state->r[i]), "register");
    must(uc_reg_write(uc, UC_ARM_REG_XPSR_NZCVQG, &state->apsr), "APSR");
    for (int i = 0; i < 32; i++) must(uc_reg_write(uc, UC_ARM_REG_S0 + i, &state->s[i]), "S register");
    must(uc_reg_write(uc, UC_ARM_REG_FPSCR, &state->fpscr), "FPSCR");
    uc_err err = uc_emu_start(uc, state->r[15] | 1, request.until, 0, request.most);
    memset(&answer, 0, sizeof answer);
    answer.error = (uint32_t)err;
    for (int i = 0; i < 16; i++) must(uc_reg_read(uc, code_register(i), &answer.state.r[i]), "register");
    must(uc_reg_read(uc, UC_ARM_REG_XPSR, &answer.state.apsr), "APSR");
    for (int i = 0; i < 32; i++) must(uc_reg_read(uc, UC_ARM_REG_S0 + i, &answer.state.s[i]), "S register");
    must(uc_reg_read(uc, UC_ARM_REG_FPSCR, &answer.state.fpscr), "FPSCR");
    must(uc_mem_read(uc, RAM, ram, size.ram_bytes), "RAM");
    if (fwrite(&answer, sizeof answer, 1, stdout) != 1 || fwrite(ram, size.ram_bytes, 1, stdout) != 1) return 1;
    fflush(stdout);
  }
  uc_close(uc);
  return 0;
}
