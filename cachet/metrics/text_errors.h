#pragma once

#include <optional>
#include <span>

#include "cachet/metrics/bleu.h"
#include "cachet/metrics/chrf.h"

/// Standard errors of scores of a corpus: the standard deviation of the scores of 1,000 corpora of as many sentences,
/// which are drawn from the corpus with replacement (Koehn 2004, "Statistical significance tests for machine
/// translation evaluation"). SacreBLEU's --confidence draws in the same way, but reports half the width of the interval
/// with 95 % of the scores, which is about twice the standard error.
/// The errors depend only on the counts of the sentences and on their order. Empty if there are fewer than two
/// sentences.
namespace cachet::metrics {

std::optional<double> bleu_error(std::span<const BleuCounts> sentences, const BleuOptions& options = {});
std::optional<double> chrf_error(std::span<const ChrfCounts> sentences, const ChrfOptions& options = {});

}  // namespace cachet::metrics
