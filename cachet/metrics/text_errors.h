#pragma once

#include <optional>
#include <span>

#include "cachet/metrics/bleu.h"
#include "cachet/metrics/chrf.h"

/// The standard error of a corpus score: the standard deviation of the scores of 1,000 resampled corpora, each with as
/// many sentences, drawn from the corpus with replacement (Koehn 2004, "Statistical significance tests for machine
/// translation evaluation"). The resampling is that of sacreBLEU's option --confidence. SacreBLEU reports half the
/// width of the interval that contains 95 % of the scores, which is about twice the standard error. The standard error
/// depends only on the sentences' counts and order. If there are fewer than two sentences, the standard error is an
/// empty value.
namespace cachet::metrics {

std::optional<double> bleu_error(std::span<const BleuCounts> sentences, const BleuOptions& options = {});
std::optional<double> chrf_error(std::span<const ChrfCounts> sentences, const ChrfOptions& options = {});

}  // namespace cachet::metrics
