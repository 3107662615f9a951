# SPDX-License-Identifier: MIT OR Apache-2.0
"""The source papers: what stands behind each figure that is set beside theirs."""
