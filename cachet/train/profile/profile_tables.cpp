#include "cachet/train/profile/profile_tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cachet/config/utf8.h"
#include "cachet/report/format.h"

namespace cachet::train {
namespace {

using report::Alignment;

constexpr size_t kNamesInTable = 10;
constexpr size_t kMaxNameBytes = 36;  // with the other columns, 80 columns of a terminal

bool has_kernels(const StepProfile& profile) { return profile.kind == ActivityKind::kernels; }

std::string fraction_text(const StepProfile& profile, double seconds, int decimals = 1) {
  return report::format_percent(profile.seconds > 0 ? seconds / profile.seconds : 0, decimals);
}

report::Table family_table(const StepProfile& profile) {
  report::Table table{has_kernels(profile) ? "Kernels by family" : "Operators by family",
                      {{"family"},
                       {"ms per step", Alignment::right},
                       {"% of a step", Alignment::right},
                       {has_kernels(profile) ? "launches per step" : "calls per step", Alignment::right}},
                      {},
                      ""};
  const auto add = [&](std::string_view name, double seconds, const std::string& calls) {
    table.rows.push_back(
        {std::string(name), report::format_number(1e3 * seconds), fraction_text(profile, seconds), calls});
  };
  double calls = 0;
  for (const WorkTime& time : profile.families) {
    calls += time.calls;
    add(to_string(time.family), time.seconds, report::format_number(time.calls));
  }
  add(has_kernels(profile) ? "device idle" : "outside of operators", profile.seconds - profile.busy_seconds, "");
  add("whole step", profile.seconds, report::format_number(calls));
  return table;
}

/// "void at::native::reduce_kernel<512, 1…": the beginning of a long name.
std::string short_name(const std::string& name) {
  const std::string_view plain = std::string_view(name).substr(name.starts_with("void ") ? 5 : 0);
  if (plain.size() <= kMaxNameBytes) return std::string(plain);
  return config::printable(plain.substr(0, kMaxNameBytes)) + "…";
}

report::Table name_table(const StepProfile& profile) {
  report::Table table{has_kernels(profile) ? "Longest kernels" : "Longest operators",
                      {{"name"}, {"family"}, {"ms per step", Alignment::right}, {"% of a step", Alignment::right}},
                      {},
                      ""};
  for (size_t i = 0; i < std::min(kNamesInTable, profile.names.size()); ++i) {
    const WorkTime& time = profile.names[i];
    table.rows.push_back({short_name(time.name), std::string(to_string(time.family)),
                          report::format_number(1e3 * time.seconds), fraction_text(profile, time.seconds)});
  }
  return table;
}

report::Table memory_table(const StepProfile& profile) {
  const MemoryUse& memory = profile.memory;
  report::Table table{"Peak memory", {{"kind"}, {"size", Alignment::right}, {"source"}}, {}, ""};
  const auto add = [&](const char* kind, int64_t bytes, const char* source) {
    table.rows.push_back({kind, report::format_bytes(bytes), source});
  };
  add("weights", memory.weights, "computed");
  add("states of caches and norms", memory.states, "computed");
  add("gradients", memory.gradients, "computed");
  add("optimizer and averages", memory.optimizer, "computed");
  add("activations and batch", memory.activations, "measured");
  if (memory.batches_ahead) add("batches ahead", *memory.batches_ahead, "computed");
  add("total", memory.total(), memory.is_peak_measured ? "measured" : "sum");
  return table;
}

std::string busy_text(const StepProfile& profile) {
  const std::string fraction = report::format_percent(profile.busy_fraction());
  if (!has_kernels(profile)) return "operators ran in " + fraction + " of the time";
  return why_busy_is_unknown(profile) ? "no kernels were recorded"
                                      : "the device was busy in " + fraction + " of the time";
}

}  // namespace

std::string profile_text(const StepProfile& profile) {
  constexpr size_t kFamilies = 3;
  std::string text = report::format_duration(profile.seconds) + " a step; " + busy_text(profile);
  for (size_t i = 0; i < std::min(kFamilies, profile.families.size()); ++i)
    text += (i == 0 ? ": " : ", ") + std::string(to_string(profile.families[i].family)) + " " +
            fraction_text(profile, profile.families[i].seconds, 0);
  return text;
}

std::vector<report::Table> profile_tables(const StepProfile& profile) {
  std::vector<report::Table> tables{family_table(profile)};
  if (!profile.names.empty()) tables.push_back(name_table(profile));
  tables.push_back(memory_table(profile));
  return tables;
}

report::Section profile_section(const StepProfile& profile) {
  const std::string steps = profile.steps == 1 ? "step " + std::to_string(profile.first_step)
                                               : "steps " + std::to_string(profile.first_step) + " to " +
                                                     std::to_string(profile.first_step + profile.steps - 1);
  report::Section section{"Profile of " + steps, {}, "", /*after_curves=*/true};
  const std::string busy = busy_text(profile);
  section.note = "A step of " + report::format_number(profile.samples) + " samples took " +
                 report::format_duration(profile.seconds) + " on " + profile.device +
                 " while LibTorch's profiler recorded it: " + busy + ".";
  if (const auto why = why_busy_is_unknown(profile))
    section.note += " The busy time of a device is unknown: " + *why + ".";
  if (has_kernels(profile))
    section.note += " A step had " + report::format_number(profile.graph_launches) + " launches of CUDA graphs.";
  for (report::Table& table : profile_tables(profile)) section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace cachet::train
