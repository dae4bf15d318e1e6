# SPDX-License-Identifier: Apache-2.0
"""Complete results of thousands of small inputs and evaluations, kept and compared: what changed is seen at once."""
