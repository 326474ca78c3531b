#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cachet/tasks/analyses/analysis.h"

namespace cachet::test {

/// What an analysis finds in a run, drawn, too.
inline nlohmann::json measured(const tasks::Analysis& analysis, tasks::AnalysedRun& run,
                               tasks::AnalysedRun* beside = nullptr) {
  const tasks::AnalysisResult result = analysis.measure(run, beside, [](int64_t, int64_t) {});
  const report::Section section =
      analysis.section({{run.name(), beside ? beside->name() : "", result.values, [&](const std::string& name) {
                           for (const tasks::NamedFile& file : result.files)
                             if (file.name == name) return file.bytes;
                           return std::string();
                         }}});
  EXPECT_FALSE(section.blocks.empty() && section.note.empty()) << analysis.word();
  return nlohmann::json::parse(result.values);
}

/// What every analysis finds whose plug-in the run has, by its word.
inline std::map<std::string, nlohmann::json> all_measured(tasks::AnalysedRun& run) {
  std::map<std::string, nlohmann::json> all;
  for (const tasks::Analysis* analysis : tasks::analyses_named(""))
    if (!analysis->lacks(run.model())) all[std::string(analysis->word())] = measured(*analysis, run);
  return all;
}

/// Equal but for numbers, which differ by no more than this.
inline void expect_near(const nlohmann::json& a, const nlohmann::json& b, double bound, const std::string& what) {
  if (a.is_number_float() && b.is_number_float()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), bound * (1 + std::abs(b.get<double>()))) << what;
  } else if (a.is_structured() && a.type() == b.type() && a.size() == b.size()) {
    const auto left = a.items(), right = b.items();
    for (auto one = left.begin(), other = right.begin(); one != left.end(); ++one, ++other) {
      EXPECT_EQ(one.key(), other.key()) << what;
      expect_near(one.value(), other.value(), bound, what + "/" + one.key());
    }
  } else {
    EXPECT_EQ(a, b) << what;
  }
}

}  // namespace cachet::test
