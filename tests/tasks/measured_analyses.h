#pragma once

#include <gtest/gtest.h>

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

}  // namespace cachet::test
