# SPDX-License-Identifier: MIT OR Apache-2.0
"""Answers as they leave: verdicts and exit statuses, names and versions of outputs, files written whole."""
