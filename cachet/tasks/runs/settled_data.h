#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/tasks/runs/run_record.h"

namespace cachet::tasks {

/// The digest of the test data that a run's recipe names, computed from the present files, and the digest that version
/// 0.1.0 computes from these files.
struct PresentDigest {
  data::DataDigest digest{};
  std::string fingerprint{};
};

/// Opens the test data of a run, without weights. Throws std::runtime_error if the data do not exist or cannot be read.
PresentDigest present_test_data(const RunRecord& run);

/// A function that returns the digest of a run's test data; empty if the digest is unknown.
using LookAtTestData = std::function<std::optional<PresentDigest>(const RunRecord& run)>;

/// Makes digests of test data comparable if some runs have a digest of version 0.1.0, and others a current digest. For
/// each run with a digest of version 0.1.0, opens the data that its recipe names. If the data of the run have not
/// changed, the run gets the current digest of the data. If the data have changed, the digest of the run does not
/// change. Data that several recipes name are opened once.
void settle_test_data(std::vector<RunRecord>& runs, const LookAtTestData& look);

}  // namespace cachet::tasks
