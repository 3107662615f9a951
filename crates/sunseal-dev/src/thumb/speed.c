// SPDX-License-Identifier: MIT OR Apache-2.0
// How fast Unicorn's Cortex-M4 runs a program at 0. Input: bytes of the program, the word of memory that counts its
// rounds, seconds to run (32 bits each), the program. Output: rounds and nanoseconds of CPU time (64 bits each).
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unicorn/unicorn.h>

enum { CODE_BYTES = 0x10000, RAM = 0x20000000, RAM_BYTES = 0x10000 };

static void must(uc_err err, const char *what) {
  if (err != UC_ERR_OK) {
    fprintf(stderr, "unicorn: %s: %s\n", what, uc_strerror(err));
    exit(1);
  }
}

static uint64_t cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(void) {
  static uint8_t code[CODE_BYTES];
  uint32_t head[3], rounds = 0, sp = RAM + 0x8000, zero = 0;
  uc_engine *uc;
  if (fread(head, sizeof head, 1, stdin) != 1 || head[0] > CODE_BYTES || fread(code, 1, head[0], stdin) != head[0]) return 2;
  must(uc_open(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, &uc), "open");
  must(uc_ctl_set_cpu_model(uc, UC_CPU_ARM_CORTEX_M4), "model");
  must(uc_mem_map(uc, 0, CODE_BYTES, UC_PROT_ALL), "map code");
  must(uc_mem_map(uc, RAM, RAM_BYTES, UC_PROT_READ | UC_PROT_WRITE), "map RAM");
  must(uc_mem_write(uc, 0, code, head[0]), "code");
  must(uc_mem_write(uc, head[1], &zero, sizeof zero), "RAM");
  must(uc_reg_write(uc, UC_ARM_REG_SP, &sp), "SP");
  const uint64_t begin = cpu_ns();
  must(uc_emu_start(uc, 1, 0xFFFFFFFE, head[2] * UINT64_C(1000000), 0), "run");
  const uint64_t end = cpu_ns();
  must(uc_mem_read(uc, head[1], &rounds, sizeof rounds), "rounds");
  const uint64_t answer[2] = {rounds, end - begin};
  return fwrite(answer, sizeof answer, 1, stdout) == 1 ? 0 : 2;
}
