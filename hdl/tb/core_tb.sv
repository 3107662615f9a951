// SPDX-License-Identifier: MIT OR Apache-2.0
// One block cipher against lines of "key block result" in hex; the same bench for Icarus, Verilator and netlists.
`timescale 1ns / 1ps
module core_tb;
  localparam int KeyBytes = `KEY_BYTES;
  localparam int BlockBytes = `BLOCK_BYTES;

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  logic start = 1'b0;
  logic busy, valid;
  logic [3:0] key_idx, data_idx;
  logic [7:0] key_byte, data_byte, result;
  logic [8*KeyBytes-1:0] key;
  logic [8*BlockBytes-1:0] block, expected, got;
  real half_clock = 5;
  int file, fields, blocks, clocks, bytes_out, failures;
  string path;

  `CORE dut (
      .clk_i(clk),
      .rst_ni(rst_n),
      .start_i(start),
      .busy_o(busy),
      .key_idx_o(key_idx),
      .key_i(key_byte),
      .data_idx_o(data_idx),
      .data_i(data_byte),
      .valid_o(valid),
      .data_o(result)
  );

  always #(half_clock) clk = ~clk;

  // Byte 0 is the first of the vector's text.
  always @(posedge clk) begin
    key_byte  <= key[8*(KeyBytes-1-(key_idx%KeyBytes))+:8];
    data_byte <= block[8*(BlockBytes-1-(data_idx%BlockBytes))+:8];
    if (valid) begin
      got[8*(BlockBytes-1-(data_idx%BlockBytes))+:8] <= result;
      bytes_out <= bytes_out + 1;
    end
  end

  initial begin
    if (!$value$plusargs("vectors=%s", path)) $fatal(1, "+vectors=FILE is missing");
    if ($value$plusargs("half_clock=%f", half_clock)) ;
    file = $fopen(path, "r");
    blocks = 0;
    failures = 0;
    repeat (4) @(posedge clk);
    #1 rst_n = 1'b1;
    repeat (20) @(posedge clk);
    // Edges of every net, from here on.
    if ($value$plusargs("dump=%s", path)) begin
      $dumpfile(path);
      $dumpvars(1, dut);
    end
    fields = $fscanf(file, "%h %h %h", key, block, expected);
    while (fields == 3) begin
      bytes_out = 0;
      got = 'x;
      #1 start = 1'b1;
      clocks = 0;
      do begin
        @(posedge clk);
        clocks = clocks + 1;
        #1 start = 1'b0;
      end while (busy && clocks < 5000);
      if (got !== expected || bytes_out != BlockBytes) begin
        failures = failures + 1;
        $display("block %0d: got %h in %0d bytes, %h is right", blocks, got, bytes_out, expected);
      end
      blocks = blocks + 1;
      // An odd number of clocks between blocks: nothing may hang on the distance.
      repeat (blocks % 3) @(posedge clk);
      fields = $fscanf(file, "%h %h %h", key, block, expected);
    end
    $display("%0d passed, %0d failed, %0d clocks a block", blocks - failures, failures, clocks);
    $finish;
  end
endmodule
