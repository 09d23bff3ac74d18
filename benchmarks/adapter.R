# Runs one rival written in R, in either of two ways:
#
#     Rscript adapter.R RIVAL METHOD K LIMIT_GB PATIENCE TABLE.csv ANSWER.csv REPORT.json
#     Rscript adapter.R RIVAL METHOD LIMIT_GB FOLDER
#
# It loads the rival by name and calls its public function; R finds it by R_LIBS. Tables have whole numbers and no
# header. The first way measures one call after one on a few rows, which loads and compiles; the second only wants the
# answers to the tables of a folder. See adapter.py for both, and for the report.

HELD_OUT <- 11 # every table of a mixture: the last of so many parts is not fitted, but foretold

salso_rival <- function(table, method, k) {
  loss <- if (method == "binder") salso::binder() else salso::VI()
  largest <- max(apply(table, 1, function(draw) length(unique(draw))))
  found <- salso::salso(table, loss = loss, maxNClusters = 2L * largest, nCores = 0)
  scored <- mean(salso::partition.loss(table, as.integer(found), loss = loss))
  list(as.integer(found), c("expected loss" = if (method == "binder") scored else scored * log(2)))
}

mixdir_rival <- function(table, method, k) {
  rows <- as.data.frame(table)
  rows[] <- lapply(rows, factor)
  known <- nrow(rows) - nrow(rows) %/% HELD_OUT
  fit <- suppressWarnings(mixdir::mixdir(rows[seq_len(known), ], n_latent = 2L * as.integer(k), select_latent = TRUE))
  shares <- log(fit$lambda / sum(fit$lambda))
  scores <- matrix(shares, nrow(rows), length(shares), byrow = TRUE)
  for (j in seq_along(fit$category_prob)) {
    probs <- sapply(fit$category_prob[[j]], function(class) log(class[levels(rows[[j]])]))
    scores <- scores + probs[as.integer(rows[[j]]), ]
  }
  top <- apply(scores, 1, max)
  chances <- top + log(rowSums(exp(scores - top)))
  told <- c("held-out log-likelihood per row" = mean(chances[-seq_len(known)]), iterations = length(fit$convergence))
  list(max.col(scores, "first"), told)
}

# DWH counts votes clustering by clustering; SE moves the mean of the renamed memberships until it stays, from one start
clue_rival <- function(way) {
  function(table, method, k) {
    clusterings <- lapply(seq_len(ncol(table)), function(j) clue::as.cl_partition(match(table[, j], unique(table[, j]))))
    settings <- if (way == "DWH") list(k = as.integer(k)) else list(k = as.integer(k), nruns = 1L)
    found <- clue::cl_consensus(clue::cl_ensemble(list = clusterings), method = way, control = settings)
    list(as.integer(clue::cl_class_ids(found)), numeric())
  }
}

# it clusters points itself, for every number of clusters up to k: the hook for a clusterer of one's own gives it ours
consensus_cluster_plus <- function(table, method, k) {
  run <- 0
  assign("given_labels", function(distances, clusters) {
    if (clusters == 2) run <<- run + 1
    table[, run]
  }, envir = globalenv())
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  found <- suppressMessages(ConsensusClusterPlus::ConsensusClusterPlus(
    stats::dist(table), maxK = as.integer(k), reps = ncol(table), pItem = 1, clusterAlg = "given_labels",
    finalLinkage = "average", seed = 1, verbose = FALSE
  ))
  list(as.integer(found[[as.integer(k)]]$consensusClass), numeric())
}

rivals <- list(
  salso = salso_rival, mixdir = mixdir_rival, "clue DWH" = clue_rival("DWH"), "clue SE" = clue_rival("SE"),
  ConsensusClusterPlus = consensus_cluster_plus
)

words <- commandArgs(trailingOnly = TRUE)
rival <- words[1]
package <- strsplit(rival, " ")[[1]][1]

read_table <- function(place) {
  table <- as.matrix(read.csv(place, header = FALSE, colClasses = "integer"))
  dimnames(table) <- NULL
  table
}

failed <- function(error) sprintf('{"failure": "%s"}', gsub('["\\\\\n]', " ", conditionMessage(error)))

absent <- function() {
  if (rival %in% names(rivals) && requireNamespace(package, quietly = TRUE)) return(NULL)
  sprintf('{"absent": "R has no package %s"}', package)
}

versions <- function() {
  sprintf('{"version": "%s", "R": "%s"}', utils::packageVersion(package), paste(R.version$major, R.version$minor, sep = "."))
}

measure_one <- function(method, k, place, answer) {
  table <- read_table(place)
  few <- if (rival == "salso") table[, seq_len(min(50, ncol(table)))] else table[seq_len(min(300, nrow(table))), ]
  set.seed(1)
  invisible(rivals[[rival]](few, method, k))
  set.seed(1)
  spent <- system.time(found <- rivals[[rival]](table, method, k))
  write.table(found[[1]], answer, row.names = FALSE, col.names = FALSE)
  quality <- paste(sprintf('"%s": %.17g', names(found[[2]]), found[[2]]), collapse = ", ")
  processor <- sum(spent[c("user.self", "sys.self", "user.child", "sys.child")], na.rm = TRUE)
  sprintf(
    '{"wall": %f, "processor": %f, "memory": %f, "quality": {%s}, "versions": %s}',
    spent[["elapsed"]], processor, sum(gc()[, 6]), quality, versions()
  )
}

answer_one <- function(method, place, answer) {
  table <- read_table(place)
  set.seed(1)
  k <- sub(".*_", "", sub("\\.csv$", "", place))
  spent <- system.time(found <- rivals[[rival]](table, method, k))
  write.table(found[[1]], answer, row.names = FALSE, col.names = FALSE)
  sprintf('{"wall": %f}', spent[["elapsed"]])
}

if (length(words) == 4) {
  for (place in sort(list.files(words[4], "\\.csv$", full.names = TRUE))) {
    stem <- sub("\\.csv$", "", place)
    if (file.exists(paste0(stem, ".json"))) next
    missing <- absent()
    told <- if (is.null(missing)) {
      tryCatch(answer_one(words[2], place, paste0(stem, ".answer")), error = failed)
    } else {
      missing
    }
    writeLines(told, paste0(stem, ".part"))
    file.rename(paste0(stem, ".part"), paste0(stem, ".json"))
    if (!is.null(missing)) break
  }
} else {
  missing <- absent()
  told <- if (is.null(missing)) tryCatch(measure_one(words[2], words[3], words[6], words[7]), error = failed) else missing
  writeLines(told, words[8])
}
