# SPDX-License-Identifier: Apache-2.0
"""Which other tool gives the same number for which metric, and the test that holds both against one another.

A test sees that each file exists and speaks of its tool, and that each metric is one of its context.
"""

from __future__ import annotations

from typing import NamedTuple


class Agreement(NamedTuple):
    """Metrics of one context that a test holds against another tool."""

    tool: str
    test: str
    context: str
    metrics: str
    note: str = ""


WITHOUT_A_VALUE = "a class without a value is left out of a mean here and 0 there, unless `zero_division=nan`"
"""Where a class of a mean may have none: F1 and Jaccard of single labels have one for every class that either side uses."""

AGREEMENTS = (
    Agreement("scikit-learn", "reference/test_sklearn_live.py", "monolabel",
              "accuracy balanced_accuracy f1 fbeta hamming_loss jaccard kappa zero_one_loss"),
    Agreement("scikit-learn", "reference/test_sklearn_live.py", "monolabel", "mcc", "0 there where it is undefined here"),
    Agreement("scikit-learn", "reference/test_sklearn_live.py", "monolabel", "precision recall", WITHOUT_A_VALUE),
    Agreement("scikit-learn", "reference/test_sklearn_live.py", "multilabel", "subset_accuracy"),
    Agreement("scikit-learn", "reference/test_sklearn_live.py", "multilabel", "jaccard",
              "a class without a value is left out of a mean here and 0 there"),
    Agreement("scikit-learn", "reference/test_sklearn_live.py", "multilabel", "f1 fbeta precision recall", WITHOUT_A_VALUE),
    Agreement("scikit-learn", "soft/test_label_sets.py", "multilabel",
              "coverage_error label_ranking_average_precision label_ranking_loss"),
    Agreement("scikit-learn", "clustering/test_reference.py", "clustering",
              "adjusted_rand ami completeness fowlkes_mallows homogeneity nmi rand v_measure"),
    Agreement("scikit-learn", "probabilities/test_reference.py", "probabilities",
              "accuracy average_precision brier f1 hit log_loss pr_auc roc_auc roc_auc_ovo"),
    Agreement("scikit-learn", "probabilities/test_reference.py", "probabilities", "best ece ks recall_at_fpr recall_at_precision",
              "read off its curves"),
    Agreement("scikit-learn", "reference/test_sklearn_ten_thousand.py", "probabilities", "precision recall"),
    Agreement("scikit-learn", "soft/test_reference.py", "soft", "f1 pairwise_kappa"),
    Agreement("scikit-learn", "numbers/test_reference.py", "numbers", "mae max_error mse quantile_loss rmse"),
    Agreement("scikit-learn", "numbers/test_reference.py", "numbers", "r2", "0 or 1 there where it is undefined here"),
    Agreement("SciPy", "numbers/test_reference.py", "numbers", "kendall pearson spearman"),
    Agreement("SciPy", "soft/test_reference.py", "soft", "cosine entropy_correlation euclidean js_distance js_divergence kl manhattan wasserstein"),
    Agreement("krippendorff", "soft/test_reference.py", "soft", "krippendorff_alpha"),
    Agreement("statsmodels", "soft/test_reference.py", "soft", "fleiss_kappa"),
    Agreement("scikit-learn", "splitting/test_context.py", "splitting",
              "accuracy average_precision brier f1 kappa mcc precision recall"),
    Agreement("segeval", "splitting/test_kernels.py", "splitting", "pk windowdiff boundary_similarity"),
    Agreement("NLTK", "splitting/test_kernels.py", "splitting", "pk windowdiff"),
    Agreement("pytrec_eval", "ranking/test_trec_eval.py", "ranking",
              "average_precision bin_g bpref dcg eleven_point f g gm_bpref gm_map ideal_dcg infap interpolated_precision ndcg "
              "ndcg_rel num_nonrel_judged_ret num_q num_rel num_rel_ret num_ret precision r_ndcg r_precision recall "
              "reciprocal_rank relative_precision set_map success unjudged utility yaap", "fractions of grades are cut there, kept here"),
    Agreement("ir_measures", "ranking/test_peers.py", "ranking",
              "average_precision bpm bpref compatibility f infap insq inst interpolated_precision judged ndcg nerr10 nerr11 "
              "nerr8 nerr9 precision r_precision rbp recall reciprocal_rank sdcg set_map success"),
    Agreement("ranx", "ranking/test_peers.py", "ranking",
              "average_precision dcg f hits ndcg precision r_precision recall reciprocal_rank success",
              "ties are broken there by the order of the input"),
    Agreement("pyndeval", "ranking/test_diversity.py", "ranking",
              "alpha_dcg alpha_ndcg average_precision_ia err_ia nerr_ia nnrbp nrbp precision_ia subtopic_recall"),
    Agreement("seqeval", "spans/test_context.py", "spans", "f1 precision recall support"),
    Agreement("nervaluate", "spans/test_matching.py", "spans", "muc_f1 muc_precision muc_recall"),
    Agreement("the poetry evaluation script", "spans/test_context.py", "spans", "excerpt_precision excerpt_recall",
              "with `merge_gold=false`"),
    Agreement("PyEvALL", "reference/test_pyevall_classification_live.py", "monolabel",
              "accuracy f1 icm icm_norm kappa precision recall system_precision",
              "with `classes=gold`, except where PyEvALL has a bug"),
    Agreement("PyEvALL", "reference/test_pyevall_classification_live.py", "multilabel", "f1 icm icm_norm precision recall",
              "with `classes=gold`"),
    Agreement("PyEvALL", "ranking/test_pyevall.py", "ranking",
              "average_precision dcg err ndcg precision r_precision rbp reciprocal_rank",
              "with gain=exponential, scale=query or gain=raw where it means those"),
    Agreement("PyEvALL", "soft/test_pyevall.py", "soft", "cross_entropy icm_soft icm_soft_norm mae", "with variant=pyevall"),
    Agreement("PyEvALL", "clustering/test_pyevall.py", "clustering",
              "bcubed_precision bcubed_recall fowlkes_mallows inverse_purity jaccard larsen_f nmi purity purity_f rand"),
)  # fmt: skip

DISAGREEMENTS = (
    Agreement("PyEvALL", "clustering/test_pyevall.py", "clustering", "class_entropy entropy variation_of_information",
              "it takes joint in place of conditional probabilities"),
)  # fmt: skip


def of(context: str, metric: str) -> list[str]:
    """What is known of the metric beside other tools, a phrase for each."""
    found: dict[str, str] = {}
    for row in AGREEMENTS:
        if row.context == context and metric in row.metrics.split():
            found.setdefault(row.tool, f"same as {row.tool}" + (f" ({row.note})" if row.note else ""))
    for row in DISAGREEMENTS:
        if row.context == context and metric in row.metrics.split():
            found[row.tool] = f"other than {row.tool}: {row.note}"
    return list(found.values())
