# SPDX-License-Identifier: MIT OR Apache-2.0
"""Functions of the API that lean on several rooms; heavy imports wait until they are needed."""
