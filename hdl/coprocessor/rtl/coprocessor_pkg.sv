// SPDX-License-Identifier: MIT OR Apache-2.0
// What a command byte says and what the coprocessor answers first: README.md of hdl/.
package coprocessor_pkg;
  // Constants, as Icarus 11 takes no enumeration of a package by its full name.
  localparam logic [1:0] OpKeyAndData = 2'd0;
  localparam logic [1:0] OpData = 2'd1;
  localparam logic [1:0] OpReserved = 2'd2;
  localparam logic [1:0] OpControl = 2'd3;

  localparam logic [1:0] CipherAes = 2'd0;
  localparam logic [1:0] CipherXtea = 2'd1;
  localparam logic [1:0] CipherPresent = 2'd2;

  localparam logic [1:0] ModeEcb = 2'd0;
  localparam logic [1:0] ModeCtr = 2'd1;
  localparam logic [1:0] ModeCbcMac = 2'd2;

  localparam logic [7:0] CommandStatus = 8'hc0;
  localparam logic [7:0] CommandClear = 8'hff;
  // The first byte of an answer is 0x80, in its low bits why the last command was refused.
  localparam logic [7:0] Ready = 8'h80;
  localparam logic [1:0] ErrorNone = 2'd0;
  localparam logic [1:0] ErrorCommand = 2'd1;
  localparam logic [1:0] ErrorLength = 2'd2;
  localparam logic [1:0] ErrorTimeout = 2'd3;
endpackage
