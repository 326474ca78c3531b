#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Returns the model's name, and the model's size if it differs from the usual size of this name: "vit_tiny_patch16_224
/// with 48 pixels, patch 8 and 3 blocks".
std::string model_text(const RunDescription& run, const RecipeValues& values);

/// Writes report.html of a run: state, curves of all metrics, learning rate, gradient norm and machine, `sections`,
/// recipe and environment. The function needs no code for individual tasks, because RunDescription describes their
/// metrics. Throws io::Error.
void write_run_report(const RunFolder& folder, const RunDescription& run, const Status& status,
                      const std::vector<Event>& events, std::vector<report::Section> sections);

}  // namespace cachet::train
