#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "cachet/io/files/file_system.h"
#include "cachet/train/checkpoints/train_state.h"

namespace cachet::train {

/// The fields of TrainState that an evaluation changes. A checkpoint is saved before the evaluation of its step and
/// does not have them yet. They are stored in evaluated.json in the checkpoint's folder, which the manifest does not
/// list. One rename creates the file, so that the weights are not written again. The file has a digest of itself, and
/// the digest of the manifest that it belongs to.
struct EvaluationMark {
  bool evaluated = false;
  double seconds = 0;
  std::optional<double> best;
  int64_t best_step = 0;
  int64_t evaluations_since_best = 0;
  bool operator==(const EvaluationMark&) const = default;
};

inline constexpr const char* kEvaluationMarkName = "evaluated.json";

EvaluationMark evaluation_mark_of(const TrainState& state);
void apply(const EvaluationMark& mark, TrainState& state);

/// Writes the mark. Throws io::Error; DamagedCheckpoint if the folder has no manifest.
void write_evaluation_mark(const std::filesystem::path& checkpoint, const EvaluationMark& mark,
                           io::FileSystem& file_system = io::FileSystem::real());

/// Reads the mark of a checkpoint. Empty if there is none; the checkpoint then has only its own state. Throws io::Error
/// if the mark is damaged or belongs to another checkpoint, io::NewerSchema; DamagedCheckpoint if the folder has no
/// manifest.
std::optional<EvaluationMark> read_evaluation_mark(const std::filesystem::path& checkpoint);

}  // namespace cachet::train
