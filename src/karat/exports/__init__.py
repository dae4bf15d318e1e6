# SPDX-License-Identifier: Apache-2.0
"""Results for other tools: scorers of scikit-learn, runs of MLflow and Weights & Biases, modules of Hugging Face evaluate."""
