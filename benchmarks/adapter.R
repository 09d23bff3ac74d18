# Runs one rival written in R: `Rscript adapter.R RIVAL METHOD K LIMIT_GB TABLE.csv ANSWER.csv REPORT.json`.
#
# It loads the rival by name and calls its public function; R finds it by R_LIBS. TABLE.csv has whole numbers and no
# header. The first call, on a few rows, loads and compiles and is not measured. See adapter.py for the report.

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

rivals <- list(salso = salso_rival, mixdir = mixdir_rival)

words <- commandArgs(trailingOnly = TRUE)
rival <- words[1]
if (!rival %in% names(rivals) || !requireNamespace(rival, quietly = TRUE)) {
  writeLines(sprintf('{"absent": "R has no package %s"}', rival), words[7])
  quit(status = 0)
}
table <- as.matrix(read.csv(words[5], header = FALSE, colClasses = "integer"))
dimnames(table) <- NULL
few <- if (rival == "salso") table[, seq_len(min(50, ncol(table)))] else table[seq_len(min(300, nrow(table))), ]
report <- tryCatch({
  set.seed(1)
  invisible(rivals[[rival]](few, words[2], words[3]))
  set.seed(1)
  spent <- system.time(answer <- rivals[[rival]](table, words[2], words[3]))
  write.table(answer[[1]], words[6], row.names = FALSE, col.names = FALSE)
  quality <- paste(sprintf('"%s": %.17g', names(answer[[2]]), answer[[2]]), collapse = ", ")
  processor <- sum(spent[c("user.self", "sys.self", "user.child", "sys.child")], na.rm = TRUE)
  memory <- sum(gc()[, 6])
  sprintf('{"wall": %f, "processor": %f, "memory": %f, "quality": {%s}}', spent[["elapsed"]], processor, memory, quality)
}, error = function(error) sprintf('{"failure": "%s"}', gsub('["\\\\\n]', " ", conditionMessage(error))))
writeLines(report, words[7])
