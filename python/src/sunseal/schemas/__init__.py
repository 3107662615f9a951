# SPDX-License-Identifier: MIT OR Apache-2.0
"""JSON Schema of the files that are read and the answers that are printed; key paths by them."""
