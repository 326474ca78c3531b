#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/tasks/runs/run_record.h"

namespace cachet::tasks {

/// The test data that a run's recipe names, as they are now: their digest, and the one that version 0.1.0 made of them.
struct PresentDigest {
  data::DataDigest digest{};
  std::string fingerprint{};
};

/// Opens the data; the model gets no weights. Throws std::runtime_error if the data are not there or cannot be read.
PresentDigest present_test_data(const RunRecord& run);

/// Nothing if it is unknown.
using LookAtTestData = std::function<std::optional<PresentDigest>(const RunRecord& run)>;

/// If some of the runs have a digest of version 0.1.0 of their test data, and others one of today: looks at the data
/// that the recipes of the former name. A run whose old digest is that of the data as they are now gets today's digest
/// of them, so that it can be compared. Others stay as they are. Runs whose recipes name the same data are looked at
/// once.
void settle_test_data(std::vector<RunRecord>& runs, const LookAtTestData& look);

}  // namespace cachet::tasks
