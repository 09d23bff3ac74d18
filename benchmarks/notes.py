"""What a figure cannot say: what each rival needs, why one was skipped, why a pair falls short of the claim."""

NEEDS = {
    "ClusterEnsembles": (
        "1.0.0 from its repository (8249ec0), imported as cluster_ensembles; the 0.2.7 that this page used before was "
        "no longer on the index. Python 3.9, SciPy 1.8 and kahypar 1.1.6: with SciPy 1.17 its CSPA stops (`'matrix' "
        "object has no attribute 'toarray'`), and kahypar 1.1.8 or 1.3.7 refuses its settings file and ends the "
        "interpreter. Its supra-consensus leaves CSPA out above 5000 objects"
    ),
    "Cluster_Ensembles": (
        "its repository's last state (d1b1ce9): the release fails on Python 3 (`name 'reduce' is not defined`). "
        "`scikit-learn<0.23`, so an old Python; `gpmetis` on the path, and a 32-bit C library for the hMETIS it "
        "brings. Its supra-consensus leaves CSPA out above 10 000 objects"
    ),
    "py-cluster-ensemble": (
        "from its repository (8228a50), Python 3.10 to 3.12; its METIS and hMETIS programs are 32-bit and must be "
        "made executable. PyTorch, which only its deep application uses, was an empty module. LWGP gets θ = 0.4, the "
        "paper's and ours; KCC with category utility, one start, stands beside `qmi`, which maximises the same"
    ),
    "OpenEnsembles": (
        "with its pins on Python 3.9 hdbscan fails to build; with `--no-deps` beside SciPy 1.8, pandas 1.5, "
        "matplotlib 3.5 and a built hdbscan it runs. It cuts its tree at a height; we cut the same tree at k. Its "
        "mixture runs the ten iterations of its default"
    ),
    "StepMix": "from the index; one start, as ours",
    "tomotopy": "from the index; LDA with α = 1, η = 0.1, 100 sweeps on one worker, against 100 sweeps of one chain",
    "pyckmeans": (
        "from the index. It clusters points, not label tables: what is measured is the consensus step of `CKmeans`, "
        "`predict`, with the given labels in place of its k-means. It also computes four scores of the answer, the "
        "silhouette among them"
    ),
    "clue": (
        "the Debian package r-cran-clue. DWH goes through the clusterings once and counts votes; SE moves the mean of "
        "the renamed memberships until it stays, from one start"
    ),
    "ConsensusClusterPlus": (
        "the Debian package r-bioc-consensusclusterplus. It clusters points, for every number of clusters up to k, "
        "and draws every matrix: the hook for a clusterer of one's own hands it the given labels, and k = 10 costs "
        "nine consensus matrices where ours needs one"
    ),
    "mixdir": (
        "R 4.2, built from its source with Rcpp and extraDistr; at most 2k classes; fitted to ten elevenths of the rows"
    ),
    "salso": "R 4.2, 0.3.35 built from its source with Rust; up to twice the clusters of the finest draw, both cores",
}
"""By the first word of a rival's name."""

VERSIONS = {"Cluster_Ensembles": "1.16"}
"""Where an installed rival does not say its version itself."""

SKIPPED = {
    "diceR 3.1.0": (
        "CRAN was not reachable, and clusterCrit, clValid, infotheo, klaR, RankAggreg and yardstick, which it "
        "imports, are not Debian packages"
    ),
}
"""Rivals that did not run, and why."""

REASONS = {
    ("hgpa", "ClusterEnsembles"): (
        "both spend the time in a hypergraph partitioner (Mt-KaHyPar here, KaHyPar there) on hyperedges that any "
        "partition cuts"
    ),
    ("hgpa", "Cluster_Ensembles"): "its partitioner ignores its input, see below; ours reads it",
    ("hgpa", "py-cluster-ensemble"): "its partitioner ignores its input, see below; ours reads it",
    ("lwgp", "NumPy/SciPy transfer cut"): (
        "the same steps on sparse and BLAS products, at 200 base clusters little to save; half of ours is k-means "
        "of the embedded objects"
    ),
    ("mcla", "Cluster_Ensembles"): (
        "a graph of 200 base clusters for METIS and one pass over the table, in compiled code in both; METIS is a "
        "fifth of ours, checking, ordering and restoring the table two fifths"
    ),
    ("mcla", "py-cluster-ensemble"): (
        "a graph of 200 base clusters for METIS and one pass over the table, in compiled code in both; METIS is a "
        "fifth of ours, checking, ordering and restoring the table two fifths"
    ),
    ("mcla", "SciPy product + pymetis"): (
        "the same METIS on the same graph of 200 base clusters, and one sparse product; it neither checks the table "
        "nor puts it in order, nor tells a confidence"
    ),
    ("voting", "clue DWH"): (
        "it matches every clustering once; ours first compares all clusterings with each other to choose the "
        "reference, which is most of its time"
    ),
    ("bce-gibbs", "tomotopy"): (
        "both are compiled and draw every label 100 times given k clusters, on one core; ours also sums the log "
        "joint after every sweep"
    ),
    ("qmi", "scikit-learn KMeans, one-hot"): (
        "compiled k-means of 200 columns by BLAS that settles in few steps; two fifths of ours is its spectral "
        "start, without which a single start may be poor: see the pools"
    ),
    ("qmi", "scikit-learn KMeans, one-hot, sparse"): (
        "compiled k-means of 20 ones a row that settles in few steps; two fifths of ours is its spectral start, "
        "without which a single start may be poor: see the pools"
    ),
    ("summarise VI", "salso"): (
        "both search in compiled code on both cores. Its answer agrees better because it is another optimum: its "
        "expected loss is higher than ours, see below"
    ),
    ("summarise Binder", "salso"): (
        "the search opens as many clusters as lower the loss, at 10³ objects 130, for a lower loss than salso's, "
        "which is held to twice the clusters of the finest draw"
    ),
}
"""Per method and rival, why ours is not ten times as fast or has a lower ANMI at 20 000 objects."""
