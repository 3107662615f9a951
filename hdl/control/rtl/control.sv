// SPDX-License-Identifier: MIT OR Apache-2.0
// Control: reads commands byte by byte, fills the message buffer, runs a cipher over it, sends the answer.
//
// The internal byte interface is table I of Rizvi et al. 2009: byte_ready, xmit_mode, byte_transferred and two bytes.
// addr_q counts the bytes of whatever comes or goes; while a cipher runs, its upper bits name the block.
module control #(
    parameter int AddrBits    = 10,  // message buffer of 2^AddrBits bytes
    parameter bit BlockRam    = 1'b1,
    parameter int TimeoutBits = 17,  // a transfer that stands still for 2^TimeoutBits clocks is given up
    parameter bit Gated       = 1'b0 // for so many edges of tick_i instead, as clk_i stands still while nothing is wanted
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       tick_i,
    output logic       tick_wanted_o,
    output logic       clock_wanted_o,
    // towards the communication module
    output logic       byte_ready_o,        // a clock: tx_o is valid and stays until transferred
    output logic       xmit_mode_o,
    output logic       bus_reset_o,
    input  logic       byte_transferred_i,  // a clock, in either direction
    output logic [7:0] tx_o,
    input  logic [7:0] rx_i,
    output logic       irq_o,               // a result waits
    // towards the ciphers
    output logic [2:0] start_o,             // one for each cipher
    input  logic       busy_i,
    output logic [1:0] cipher_o,
    input  logic [3:0] data_idx_i,
    output logic [7:0] data_o,
    input  logic       valid_i,
    input  logic [7:0] data_i,
    // towards the key store
    output logic       key_we_o,
    output logic       key_clear_o,
    output logic [3:0] key_waddr_o,
    output logic [7:0] key_wdata_o,
    input  logic       key_loaded_i
);
  typedef enum logic [3:0] {
    StIdle,
    StLength,
    StKey,
    StIv,
    StData,
    StStart,
    StRun,
    StCount,
    StReady,
    StSend,
    StRefused
  } state_e;

  typedef struct packed {
    logic [1:0] op;
    logic [1:0] cipher;
    logic [1:0] mode;
    logic       has_length;
    logic       reserved;
  } command_t;

  (* fsm_encoding = "none" *) state_e state_q;
  command_t command_q, command;
  logic [AddrBits:0] addr_q;
  logic [7:0] units_q;  // message length in units of 8 bytes
  logic [7:0] byte_q;   // last byte, received or enciphered
  logic [3:0] idx_q;
  logic [1:0] error_q;
  logic got_q, enciphered_q, first_q, quiet;
  logic aes, ctr, mac, receiving, running, carry_q, fetch_q, ready_q;
  logic [4:0] count_q;
  logic [3:0] idx_next;
  logic [7:0] message, iv;

  assign command   = byte_q;
  assign aes       = command_q.cipher == coprocessor_pkg::CipherAes;
  assign ctr       = command_q.mode == coprocessor_pkg::ModeCtr;
  assign mac       = command_q.mode == coprocessor_pkg::ModeCbcMac;
  assign cipher_o  = command_q.cipher;
  assign running   = state_q == StStart || state_q == StRun;
  assign receiving = state_q == StLength || state_q == StKey || state_q == StIv || state_q == StData;
  assign xmit_mode_o = running || state_q == StCount || state_q == StReady || state_q == StSend;
  assign irq_o     = state_q == StReady;
  assign start_o   = state_q == StStart ? 3'b001 << command_q.cipher : 3'b000;

  // Where a state that counts bytes ends.
  logic block_end, message_end, answer_end, length_bad;
  logic [AddrBits:0] addr_next;
  assign addr_next   = addr_q + (running ? (aes ? (AddrBits + 1)'(16) : (AddrBits + 1)'(8)) : (AddrBits + 1)'(1));
  assign block_end   = addr_q[2:0] == 3'd7 && (addr_q[3] || !aes);
  assign message_end = addr_next[AddrBits:3] == units_q[AddrBits-3:0];
  assign answer_end  = mac ? block_end : message_end;
  assign length_bad  = byte_q == 8'd0 || byte_q > 8'(2 ** (AddrBits - 3)) || (aes && byte_q[0]);

  // The buffer of the message, and the counter block or the chaining value. They are written a clock after idx_next.
  logic buffer_we, iv_we;
  logic [7:0] iv_wdata;
  assign buffer_we = (state_q == StData && got_q) || (enciphered_q && !mac);
  assign iv_wdata = state_q == StCount ? iv + 8'(carry_q) : byte_q;
  assign idx_next = running ? data_idx_i : state_q == StCount ? {!count_q[3] && aes, ~count_q[2:0]} : addr_q[3:0];
  tech_ram #(
      .AddrBits(AddrBits),
      .BlockRam(BlockRam)
  ) buffer (
      .clk_i  (clk_i),
      .we_i   (buffer_we),
      .waddr_i(AddrBits'({addr_q[AddrBits:4], running && !aes ? addr_q[3] : idx_q[3], idx_q[2:0]})),
      .wdata_i(byte_q ^ (running && ctr ? message : 8'd0)),
      .raddr_i(AddrBits'({addr_q[AddrBits:4], running && !aes ? addr_q[3] : idx_next[3], idx_next[2:0]})),
      .rdata_o(message)
  );
  assign iv_we = (state_q == StIv && got_q) || (enciphered_q && mac) || (state_q == StCount && count_q != 5'd0);
  tech_ram #(
      .AddrBits(4),
      .BlockRam(BlockRam)
  ) iv_ram (
      .clk_i  (clk_i),
      .we_i   (iv_we),
      .waddr_i(idx_q),
      .wdata_i(iv_wdata),
      .raddr_i(idx_next),
      .rdata_o(iv)
  );
  assign data_o = ctr ? iv : message ^ (mac && !first_q ? iv : 8'd0);

  assign tx_o = state_q == StReady ? coprocessor_pkg::Ready | 8'(error_q) : mac ? iv : message;
  assign byte_ready_o = ready_q;
  assign key_we_o = state_q == StKey && got_q;
  assign key_clear_o = state_q == StIdle && got_q && byte_q == coprocessor_pkg::CommandClear;
  assign key_waddr_o = idx_q;
  assign key_wdata_o = byte_q;

  // A transfer that stands still.
  logic [TimeoutBits-1:0] quiet_q;
  logic [TimeoutBits:0] quiet_next;
  logic open, passes;
  assign open = receiving || state_q == StReady || state_q == StSend || state_q == StRefused;
  assign quiet_next = quiet_q + 1'b1;
  assign quiet = quiet_next[TimeoutBits];
  always_ff @(posedge clk_i) begin
    if (!rst_ni || got_q || !open || (Gated && quiet)) quiet_q <= '0;
    else if (passes) quiet_q <= quiet_next[TimeoutBits-1:0];
  end
  assign bus_reset_o = quiet;
  assign tick_wanted_o = open;
  if (Gated) begin : g_ticks
    logic [2:0] tick_q;  // two flops against metastability, one to compare with
    always_ff @(posedge clk_i) tick_q <= {tick_q[1:0], tick_i};
    assign passes = tick_q[2] != tick_q[1];
    // What changes without the mote's doing; a flop that follows another by a clock has its turn in between.
    assign clock_wanted_o = !rst_ni || running || enciphered_q || state_q == StCount || got_q || fetch_q || ready_q || quiet
        || (open && {tick_q[1:0], tick_i} != {3{tick_q[2]}});
  end else begin : g_clocks
    assign passes = 1'b1;
    assign clock_wanted_o = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    got_q        <= byte_transferred_i;
    enciphered_q <= running && valid_i;
    if ((running && valid_i) || byte_transferred_i) byte_q <= running ? data_i : rx_i;
    idx_q        <= idx_next;
    count_q      <= state_q == StCount ? count_q + 5'd1 : 5'd0;
    carry_q      <= state_q != StCount || count_q == 5'd0 || (carry_q && iv == 8'hff);
    // Two clocks from a new address to its byte.
    fetch_q      <= got_q || running;
    ready_q      <= fetch_q && (state_q == StReady || state_q == StSend);
    if (!rst_ni || quiet) begin
      state_q <= StIdle;
      addr_q  <= '0;
      got_q   <= 1'b0;
      if (!rst_ni) error_q <= coprocessor_pkg::ErrorNone;
      else if (state_q != StRefused) error_q <= coprocessor_pkg::ErrorTimeout;
    end else begin
      case (state_q)
        StIdle:
        if (got_q) begin
          command_q <= command;
          units_q   <= command.cipher == coprocessor_pkg::CipherAes ? 8'd2 : 8'd1;
          first_q   <= 1'b1;
          if (byte_q == coprocessor_pkg::CommandStatus) state_q <= StReady;
          else if (byte_q == coprocessor_pkg::CommandClear) error_q <= coprocessor_pkg::ErrorNone;
          else begin
            error_q <= coprocessor_pkg::ErrorNone;
            if (command.op[1] || command.cipher == 2'd3 || command.mode == 2'd3 || command.reserved
                || (command.op[0] && !key_loaded_i)) begin
              state_q <= StRefused;
              error_q <= coprocessor_pkg::ErrorCommand;
            end else if (command.has_length) state_q <= StLength;
            else if (!command.op[0]) state_q <= StKey;
            else if (command.mode == coprocessor_pkg::ModeCtr) state_q <= StIv;
            else state_q <= StData;
          end
        end
        StLength:
        if (got_q) begin
          units_q <= byte_q;
          if (length_bad) begin
            state_q <= StRefused;
            error_q <= coprocessor_pkg::ErrorLength;
          end else state_q <= command_q.op[0] ? (ctr ? StIv : StData) : StKey;
        end
        StKey:
        if (got_q) begin
          addr_q <= addr_next;
          if (addr_q[3:0] == 4'd15) begin
            addr_q  <= '0;
            state_q <= ctr ? StIv : StData;
          end
        end
        StIv:
        if (got_q) begin
          addr_q <= addr_next;
          if (block_end) begin
            addr_q  <= '0;
            state_q <= StData;
          end
        end
        StData:
        if (got_q) begin
          addr_q <= addr_next;
          if (message_end) begin
            addr_q  <= '0;
            state_q <= StStart;
          end
        end
        StStart: state_q <= StRun;
        StRun:
        if (!busy_i && !enciphered_q) begin
          first_q <= 1'b0;
          addr_q  <= message_end ? '0 : addr_next;
          if (message_end) state_q <= StReady;
          else state_q <= ctr ? StCount : StStart;
        end
        StCount:
        if (count_q[4] || (count_q[3] && !aes)) state_q <= StStart;
        StReady:
        if (got_q) begin
          error_q <= coprocessor_pkg::ErrorNone;
          state_q <= command_q.op[1] ? StIdle : StSend;
        end
        StSend:
        if (got_q) begin
          addr_q <= addr_next;
          if (answer_end) begin
            addr_q  <= '0;
            state_q <= StIdle;
          end
        end
        default: ;
      endcase
    end
  end
endmodule
