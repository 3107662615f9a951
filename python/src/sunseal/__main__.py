# SPDX-License-Identifier: MIT OR Apache-2.0
"""`python -m sunseal` is the command `sunseal`."""

from sunseal.cli.app import main

main()
