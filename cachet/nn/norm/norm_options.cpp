#include "cachet/nn/norm/norm_options.h"

#include <type_traits>
#include <utility>

#include "cachet/config/document.h"

namespace cachet::nn {
namespace {

KindTable<NormOptions>& norm_table() {
  static KindTable<NormOptions> table;
  return table;
}

}  // namespace

std::optional<double> read_open_eps(const config::View& table) {
  if (!table.has("eps")) return std::nullopt;
  return table.real("eps", 1e-6, NormRanges::kEps);
}

config::CountOrFraction read_warmup(const config::View& table, int64_t default_count) {
  return table.count_or_fraction("warmup", {default_count}, NormRanges::kWarmup, "the updates of a run");
}

std::span<const NormRow* const> norm_kinds() { return norm_table().rows(); }

void register_norm(NormRow row) { norm_table().add("norm", std::move(row)); }

NormOptions read_norm_options(const config::View& table) { return norm_table().read(table); }

ChosenNorm chosen_norm(const NormOptions& options) {
  return std::visit(
      []<class Options>(const Options& o) -> ChosenNorm {
        if constexpr (std::is_same_v<Options, ChosenNorm>)
          return o;
        else
          return chosen_norm(Options::kKind, o);
      },
      options);
}

std::string why_norm_not_causal(const NormOptions& options) {
  if (chosen_norm(options).statistics != NormStatistics::sample) return "";
  auto nothing_written = config::Document::from_text("", "defaults");
  std::string others;
  for (const NormRow* row : norm_kinds())
    if (chosen_norm(row->read(nothing_written.root())).statistics != NormStatistics::sample)
      others += (others.empty() ? "" : ", ") + row->name;
  return "computes its statistics over all tokens of a sample, also over later tokens; use one of " + others;
}

std::shared_ptr<Norm> make_norm(const NormOptions& options, int64_t channels, double default_eps) {
  return chosen_norm(options).make(channels, default_eps);
}

}  // namespace cachet::nn
