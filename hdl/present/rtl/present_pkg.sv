// SPDX-License-Identifier: MIT OR Apache-2.0
// The S-box of PRESENT (CHES 2007, section 3) and the inverse.
package present_pkg;
  localparam logic [63:0] Sbox = 64'h21748fe3da09b65c;
  localparam logic [63:0] InverseSbox = 64'ha970364bd21c8fe5;

  function automatic logic [3:0] sbox(input logic [3:0] a);
    sbox = Sbox[{a, 2'b00}+:4];
  endfunction

  function automatic logic [3:0] inverse_sbox(input logic [3:0] a);
    inverse_sbox = InverseSbox[{a, 2'b00}+:4];
  endfunction
endpackage
