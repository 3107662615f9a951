# SPDX-License-Identifier: MIT OR Apache-2.0
"""The closed loop: harvester, store and node of a scenario, fleets of them, and the services beside them."""
