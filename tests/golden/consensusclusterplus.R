# Makes consensusclusterplus.json: what ConsensusClusterPlus (Wilkerson and Hayes 2010) computes from given runs.
#
#   apt-get install r-base-core r-bioc-consensusclusterplus        (Debian)
#   Rscript consensusclusterplus.R > consensusclusterplus.json
#
# The package draws the subsamples and calls our `nearest_seed` for each of them and each k; it notes the labels it gave,
# so that the same runs can be handed to Partita. The CDF curves and the delta area are drawn by the package and returned
# nowhere: its function is run with `plot` and `lines` that keep what they are given.

suppressMessages(library(ConsensusClusterPlus))
RNGkind("Mersenne-Twister", "Inversion", "Rejection")

objects <- 36
groups <- 4
most <- 6

make_data <- function() {
  set.seed(1)
  centres <- matrix(rnorm(3 * groups, sd = 2), 3)
  points <- centres[, rep(seq_len(groups), length.out = objects)] + matrix(rnorm(3 * objects), 3)
  colnames(points) <- sprintf("o%02d", seq_len(objects))
  points
}

notes <- new.env()

# A rough clustering, so that runs differ: k objects drawn as seeds, each object to the nearest of them.
nearest_seed <- function(distances, k) {
  items <- attr(distances, "Labels")
  full <- as.matrix(distances)
  seeds <- sample(length(items), k)
  found <- apply(full[, seeds, drop = FALSE], 1, which.min)
  line <- rep(".", objects)
  line[match(items, notes$items)] <- as.character(found)
  notes$runs[[length(notes$runs) + 1]] <- list(k = k, labels = paste(line, collapse = ""))
  found
}

curves_of <- function(matrices) {
  kept <- new.env(parent = asNamespace("ConsensusClusterPlus"))
  kept$curves <- list()
  kept$legend <- function(...) NULL
  kept$lines <- function(x, y, ...) kept$curves[[length(kept$curves) + 1]] <- list(mids = x, shares = y)
  kept$plot <- function(x, y = NULL, ...) if (!is.null(y)) kept$delta <- y
  drawing <- get("CDF", asNamespace("ConsensusClusterPlus"))
  environment(drawing) <- kept
  drawing(matrices)
  kept
}

number <- function(values) paste0("[", paste(ifelse(is.nan(values), "null", sprintf("%.15g", values)), collapse = ", "), "]")
text <- function(values) paste0("[", paste(sprintf("\"%s\"", values), collapse = ", "), "]")

told <- function(share, repeats) {
  points <- make_data()
  notes$items <- colnames(points)
  notes$runs <- list()
  found <- suppressMessages(ConsensusClusterPlus(points, maxK = most, reps = repeats, pItem = share,
    clusterAlg = "nearest_seed", distance = "euclidean", seed = 7, plot = NULL))
  matrices <- lapply(seq_len(most), function(k) if (k == 1) 0 else found[[k]]$ml)
  curves <- curves_of(matrices)
  icl <- calcICL(found)
  by_k <- lapply(2:most, function(k) {
    own <- icl$itemConsensus[icl$itemConsensus$k == k, ]
    own <- own[order(own$cluster, match(own$item, notes$items)), ]
    clusters <- icl$clusterConsensus[icl$clusterConsensus[, "k"] == k, "clusterConsensus"]
    runs <- Filter(function(run) run$k == k, notes$runs)
    fields <- c(
      sprintf("\"k\": %d", k),
      paste0("\"runs\": ", text(vapply(runs, function(run) run$labels, ""))),
      paste0("\"consensus matrix, lower triangle by columns\": ",
        number(found[[k]]$consensusMatrix[lower.tri(found[[k]]$consensusMatrix)])),
      paste0("\"consensus class\": ", number(found[[k]]$consensusClass)),
      paste0("\"item consensus, by cluster then object\": ", number(own$itemConsensus)),
      paste0("\"cluster consensus\": ", number(clusters)),
      paste0("\"cdf\": ", number(curves$curves[[k - 1]]$shares)))
    paste0("    {", paste(fields, collapse = ",\n     "), "}")
  })
  paste0("  {\"share sampled\": ", share, ",\n   \"cdf at the middle of\": ", number(curves$curves[[1]]$mids),
    ",\n   \"delta area\": ", number(curves$delta), ",\n   \"by k\": [\n", paste(by_k, collapse = ",\n"), "]}")
}

pdf(NULL)
sets <- c(told(0.8, 50), told(1, 20))
cat(paste0("{\"made by\": \"tests/golden/consensusclusterplus.R\",\n \"R\": \"", R.version.string,
  "\",\n \"ConsensusClusterPlus\": \"", packageVersion("ConsensusClusterPlus"), "\",\n \"objects\": ", objects,
  ",\n \"sets\": [\n", paste(sets, collapse = ",\n"), "]}\n"))
