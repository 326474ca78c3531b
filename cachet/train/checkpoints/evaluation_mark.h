#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "cachet/io/files/file_system.h"
#include "cachet/train/checkpoints/train_state.h"

namespace cachet::train {

/// The fields of TrainState that an evaluation changes. A checkpoint is saved before its step is evaluated, so at first
/// it lacks the fields that the evaluation changes. The fields of an evaluation mark are stored in evaluated.json in
/// the checkpoint's folder; the checkpoint's manifest does not list evaluated.json. To store a mark, Cachet writes only
/// evaluated.json (by one rename), and does not write the weights again. The file evaluated.json has a digest of its
/// own content and the digest of the checkpoint's manifest.
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

/// Writes the evaluation mark. Throws io::Error, and DamagedCheckpoint if the folder has no manifest.
void write_evaluation_mark(const std::filesystem::path& checkpoint, const EvaluationMark& mark,
                           io::FileSystem& file_system = io::FileSystem::real());

/// Reads the evaluation mark of a checkpoint. If the checkpoint has no mark, returns std::nullopt: it has only the
/// state with which it was saved. Throws io::Error if the evaluation mark is damaged or belongs to another checkpoint,
/// io::NewerSchema if a newer version of Cachet wrote it, and DamagedCheckpoint if the folder has no manifest.
std::optional<EvaluationMark> read_evaluation_mark(const std::filesystem::path& checkpoint);

}  // namespace cachet::train
