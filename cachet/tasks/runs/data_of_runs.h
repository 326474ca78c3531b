#pragma once

#include <string>

#include "cachet/tasks/runs/run_record.h"

namespace cachet::tasks {

/// Whether the data of two runs are the same, according to the folders of the runs.
enum class DataOfRuns { same, other, unknown };

/// Compares the training or the evaluation data (`split` is "training" or "evaluation") of two runs by digests. If a
/// run has no digest or the digests have different versions, returns `unknown`; otherwise `same` or `other`.
DataOfRuns compared_data(const RunRecord& one, const RunRecord& other, const std::string& split);

/// Whether the digests of a split have the same version and differ only in the modification times of image files.
/// Digests do not cover the bytes of image files: another file of equal size may have replaced an image file.
bool only_times_differ(const RunRecord& one, const RunRecord& other, const std::string& split);

/// Whether it is known that the two runs evaluated different numbers of samples.
bool numbers_of_samples_differ(const RunRecord& one, const RunRecord& other);

/// Compares the evaluation data of the runs. If the data differ, or if the runs evaluated different numbers of samples,
/// returns `other`.
DataOfRuns compared_test_data(const RunRecord& one, const RunRecord& other);

}  // namespace cachet::tasks
