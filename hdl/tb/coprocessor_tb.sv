// SPDX-License-Identifier: MIT OR Apache-2.0
// The mote's side of each bus against the coprocessor. Lines of the script, in hex:
//   c COUNT BYTES...          send a command and its bytes
//   r COUNT BYTES...          turn, await the status, receive, compare
//   z                         leave the transfer as it is and wait until the coprocessor has given it up
`timescale 1ns / 1ps
module coprocessor_tb;
  real half_clock = 10.0;
  real mote_cycle = 135.634;  // 7.3728 MHz
  // The longest answer takes 64 blocks of AES, 14,208 clocks; a poll lasts 6 or more.
  localparam int MostPolls = 4000;
  // After so many wrong bytes the rest says nothing new.
  localparam int MostFailures = 8;
  int seed = 1;
  logic clk;
  logic rst_n = 1'b0;
  int file, count, value, failures, checks, polls;
  string path, word;
  logic [7:0] got;
  logic irq;

  // GATED: what the coprocessor asks for of its clock, its first period cut as it is asked, and a slow one that passes the time.
  // UNHELD: the wish is not held while the clock is high, so that a netlist's flicker makes edges of its own.
  logic oscillator = 1'b0;
  logic tick = 1'b0;
  logic clock_wanted;
  always #(half_clock) oscillator = ~oscillator;
`ifdef GATED
  localparam bit Gated = 1'b1;
  localparam int TimeoutBits = 7;
`ifdef UNHELD
  assign clk = oscillator && clock_wanted !== 1'b0;
`else
  assign clk = oscillator && (clock_wanted !== 1'b0 || clk);
`endif
  always #(640.0) tick = ~tick;
`else
  localparam bit Gated = 1'b0;
  localparam int TimeoutBits = 12;
  assign clk = oscillator;
`endif

`ifdef PARALLEL
  logic toggle = 1'b0;
  logic [7:0] mote_lines = 8'hff;
  logic mote_drives = 1'b0;
  logic [7:0] lines, chip_lines;
  logic chip_drives;
  // Pull-ups where nobody drives.
  assign lines = mote_drives ? mote_lines : chip_drives ? chip_lines : 8'hff;
`define BUS coprocessor_parallel
`define PINS .toggle_i(toggle), .lines_i(lines), .lines_o(chip_lines), .drive_o(chip_drives)
  always @(posedge clk)
    if (mote_drives === 1'b1 && chip_drives !== 1'b0) begin
      failures = failures + 1;
      $display("both sides drive the bus at %0t", $time);
    end
  task automatic send(input logic [7:0] b);
    mote_drives = 1'b1;
    mote_lines  = b;
    #(mote_cycle) toggle = ~toggle;
    #(3 * mote_cycle);
  endtask
  task automatic turn;
    mote_drives = 1'b0;
    #(mote_cycle) toggle = ~toggle;
    #(2 * mote_cycle);
  endtask
  task automatic status(output logic [7:0] b);
    b = lines;
    polls = 0;
    while ((b & 8'hfc) != 8'h80 && polls < MostPolls) begin
      #(2 * mote_cycle) b = lines;
      polls = polls + 1;
    end
  endtask
  task automatic receive(output logic [7:0] b);
    toggle = ~toggle;
    #(3 * mote_cycle) b = lines;
    #(mote_cycle);
  endtask
  task automatic finish;
    toggle = ~toggle;
    #(3 * mote_cycle);
  endtask
`endif
`ifdef UART
  logic to_chip = 1'b1;
  logic from_chip;
  localparam real Bit = 320.0;
`define BUS coprocessor_uart
`define PINS .rx_pin_i(to_chip), .tx_pin_o(from_chip)
  logic [7:0] queue[4096];
  int queued = 0;
  int taken = 0;
  logic [7:0] in;
  always @(negedge from_chip) begin
    #(Bit * 0.5);
    if (from_chip !== 1'b0) failures = failures + 1;
    for (int i = 0; i < 8; i = i + 1) begin
      #(Bit) in[i] = from_chip;
    end
    #(Bit);
    if (from_chip !== 1'b1) failures = failures + 1;
    queue[queued%4096] = in;
    queued = queued + 1;
  end
  task automatic send(input logic [7:0] b);
    to_chip = 1'b0;
    for (int i = 0; i < 8; i = i + 1) #(Bit * 1.02) to_chip = b[i];
    #(Bit * 1.02) to_chip = 1'b1;
    #(Bit * 1.02);
  endtask
  task automatic turn;
    #(Bit);
  endtask
  task automatic receive(output logic [7:0] b);
    polls = 0;
    while (taken == queued && polls < MostPolls) begin
      #(Bit);
      polls = polls + 1;
    end
    b = queue[taken%4096];
    taken = taken + 1;
  endtask
  task automatic status(output logic [7:0] b);
    receive(b);
  endtask
  task automatic finish;
    #(2 * Bit);
  endtask
`endif
`ifdef SPI
  logic sck = 1'b0;
  logic cs_n = 1'b1;
  logic mosi = 1'b0;
  logic miso;
`define BUS coprocessor_spi
`define PINS .sck_i(sck), .cs_ni(cs_n), .mosi_i(mosi), .miso_o(miso)
  task automatic exchange(input logic [7:0] b, output logic [7:0] r);
    cs_n = 1'b0;
    #(mote_cycle);
    for (int i = 7; i >= 0; i = i - 1) begin
      mosi = b[i];
      #(mote_cycle);
      r[i] = miso;
      sck = 1'b1;
      #(mote_cycle) sck = 1'b0;
    end
  endtask
  task automatic send(input logic [7:0] b);
    logic [7:0] ignored;
    exchange(b, ignored);
  endtask
  task automatic turn;
    #(mote_cycle);
  endtask
  task automatic receive(output logic [7:0] b);
    exchange(8'h00, b);
  endtask
  task automatic status(output logic [7:0] b);
    b = 8'hff;
    polls = 0;
    while (b == 8'hff && polls < MostPolls) begin
      exchange(8'h00, b);
      polls = polls + 1;
    end
  endtask
  task automatic finish;
    #(2 * mote_cycle) cs_n = 1'b1;
    #(2 * mote_cycle);
  endtask
`endif

  `BUS
`ifndef NETLIST
  #(
`ifdef UART
      .Divider(16),
`endif
`ifdef NO_BLOCK_RAM
      .AddrBits(4),
      .BlockRam(1'b0),
`endif
      .PresentByRounds(`ROUNDS),
      .TimeoutBits(TimeoutBits),
      .Gated(Gated)
  )
`endif
  dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .tick_i(tick),
      .tick_wanted_o(),
      .clock_wanted_o(clock_wanted),
      `PINS,
      .irq_o(irq)
  );

  // Every transfer of the script begins at another phase of the coprocessor's clock.
  initial begin
    failures = 0;
    checks = 0;
    if (!$value$plusargs("script=%s", path)) $fatal(1, "+script=FILE is missing");
    if ($value$plusargs("half_clock=%f", half_clock)) ;
    file = $fopen(path, "r");
    repeat (8) @(posedge clk);
    rst_n = 1'b1;
    #(1000);
    while ($fscanf(file, "%s", word) == 1) begin
      #(0.001 * ($random(seed) & 16383));
      if (word == "z") begin
        repeat (4500) @(posedge oscillator);
`ifdef SPI
        finish;
`endif
      end else begin
        if ($fscanf(file, "%h", count) != 1) $fatal(1, "a count is missing");
        if (word == "r") begin
          turn;
          status(got);
        end
        for (int i = 0; i < count; i = i + 1) begin
          if ($fscanf(file, "%h", value) != 1) $fatal(1, "a byte is missing");
          if (word == "c") send(value[7:0]);
          else begin
            if (i != 0) receive(got);
            checks = checks + 1;
            if (got !== value[7:0]) begin
              failures = failures + 1;
              $display("byte %0d of an answer at %0t: got %h, %h is right", i, $time, got, value[7:0]);
              if (failures >= MostFailures) conclude;
            end
          end
        end
        if (word == "r") finish();
      end
    end
    conclude;
  end
  task automatic conclude;
    $display("%0d passed, %0d failed", checks - failures, failures);
    $finish;
  endtask
endmodule
