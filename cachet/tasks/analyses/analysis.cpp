#include "cachet/tasks/analyses/analysis.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "cachet/config/near_names.h"

namespace cachet::tasks {

double Analysis::passes(const AnalysedRun& run) const {
  const AnalysisOptions& options = run.options();
  if (effort() == AnalysisEffort::samples) return static_cast<double>(options.samples);
  constexpr double of_a_training_sample = 3;
  return of_a_training_sample * static_cast<double>(options.steps * run.saved().plan.training.train.batch_size);
}

std::vector<AnalysisJob> Analysis::jobs(size_t runs) const {
  std::vector<AnalysisJob> all;
  for (size_t run = 0; run < runs; ++run) all.push_back({run, std::nullopt});
  return all;
}

const std::vector<std::unique_ptr<Analysis>>& analyses() {
  static const auto all = [] {
    std::vector<std::unique_ptr<Analysis>> made;
    for (const auto& make : {cache_analysis, gate_analysis, map_analysis, intervention_analysis, norm_analysis,
                             similarity_analysis, kernel_analysis})
      made.push_back(make());
    return made;
  }();
  return all;
}

std::vector<const Analysis*> analyses_named(const std::string& list) {
  std::vector<std::string> known;
  for (const auto& analysis : analyses()) known.emplace_back(analysis->word());
  std::set<std::string> asked;
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (std::ranges::find(known, word) == known.end()) {
      std::string all;
      for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
      throw std::invalid_argument("there is no analysis '" + word + "'" + config::suggestion(word, known) +
                                  "; the analyses are " + all);
    }
    asked.insert(word);
  }
  std::vector<const Analysis*> chosen;
  for (const auto& analysis : analyses())
    if (asked.empty() || asked.contains(std::string(analysis->word()))) chosen.push_back(analysis.get());
  return chosen;
}

}  // namespace cachet::tasks
