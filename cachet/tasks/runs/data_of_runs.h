#pragma once

#include <string>

#include "cachet/tasks/runs/run_record.h"

namespace cachet::tasks {

/// Whether the data of two runs are the same, according to the folders of the runs.
enum class DataOfRuns { same, other, unknown };

/// Compares the training or the evaluation data of two runs: `split` is "training" or "evaluation". Digests of the same
/// version give `same` or `other`. Digests of different versions, or a run without a digest, give `unknown`.
DataOfRuns compared_data(const RunRecord& one, const RunRecord& other, const std::string& split);

/// Whether two digests of a split (of the same digest version) differ at most in the modification times of image files.
/// Digests do not cover the bytes of image files, so that a file may have been replaced by another file of equal size.
bool only_times_differ(const RunRecord& one, const RunRecord& other, const std::string& split);

/// Whether the numbers of evaluated samples of both runs are known and differ.
bool numbers_of_samples_differ(const RunRecord& one, const RunRecord& other);

/// Compares the evaluation data of the runs. If the two runs evaluated different numbers of samples, the result is also
/// `other`.
DataOfRuns compared_test_data(const RunRecord& one, const RunRecord& other);

}  // namespace cachet::tasks
