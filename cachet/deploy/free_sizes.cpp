#include "cachet/deploy/free_sizes.h"

#include <numeric>

namespace cachet::deploy {

SizeSamples::SizeSamples(const std::vector<FreeSize>& sizes) {
  std::vector<int64_t> least, others;
  for (const FreeSize& size : sizes) {
    least.push_back(size.least);
    others.push_back(size.last);
  }
  samples_.push_back(least);
  for (size_t i = 0; i < sizes.size(); ++i) {
    samples_.push_back(least);
    samples_.back()[i] = sizes[i].more;
  }
  if (!sizes.empty()) samples_.push_back(others);
}

std::string SizeSamples::words_for(size_t index, const std::vector<FreeSize>& sizes) const {
  std::string words;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (samples_[index][i] != samples_[0][i]) words += (words.empty() ? "" : " or ") + sizes[i].name;
  return words;
}

int64_t SizeForm::at(const std::vector<int64_t>& sizes) const {
  int64_t value = factor;
  for (const Term& term : terms) value *= term.slope * sizes[term.size] + term.offset;
  return value;
}

std::optional<SizeForm> SizeForm::of(const std::vector<int64_t>& values, const SizeSamples& samples) {
  const std::vector<std::vector<int64_t>>& all = samples.all();
  const int64_t first = values.front();
  SizeForm form;
  // Each size alone gives a line; their product counts the first value once for each line but one.
  int64_t numerator = 1, denominator = 1;
  for (size_t i = 0; i < samples.sizes(); ++i) {
    const int64_t rise = values[i + 1] - first, run = all[i + 1][i] - all[0][i];
    if (rise == 0) continue;
    if (rise % run != 0) return std::nullopt;
    const int64_t slope = rise / run, offset = first - slope * all[0][i], common = std::gcd(slope, offset);
    if (!form.terms.empty()) denominator *= first;
    numerator *= common;
    form.terms.push_back({i, slope / common, offset / common});
  }
  if (form.terms.empty()) numerator = first;
  if (denominator == 0 || numerator % denominator != 0) return std::nullopt;
  form.factor = numerator / denominator;
  for (size_t sample = 0; sample < values.size(); ++sample)
    if (form.at(all[sample]) != values[sample]) return std::nullopt;
  return form;
}

}  // namespace cachet::deploy
