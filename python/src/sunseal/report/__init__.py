# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pages and pictures of results: a chart is described once and drawn by the page or by matplotlib."""
