#pragma once

#include <optional>
#include <span>

#include "cachet/metrics/bleu.h"
#include "cachet/metrics/chrf.h"

/// Standard errors of scores of a corpus: the deviation of the scores of 1,000 corpora of as many sentences, drawn from
/// it with replacement (Koehn 2004, "Statistical significance tests for machine translation evaluation"). SacreBLEU's
/// --confidence draws in the same way, and reports half the width of the interval with 95 % of the scores, about twice
/// as much.
/// They are a function of the sentences' counts and their order, and of nothing else. Nothing of fewer than two
/// sentences.
namespace cachet::metrics {

std::optional<double> bleu_error(std::span<const BleuCounts> sentences, const BleuOptions& options = {});
std::optional<double> chrf_error(std::span<const ChrfCounts> sentences, const ChrfOptions& options = {});

}  // namespace cachet::metrics
