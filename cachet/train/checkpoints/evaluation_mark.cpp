#include "cachet/train/checkpoints/evaluation_mark.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/io/json/sealed_json.h"
#include "cachet/train/checkpoints/manifest.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using MarkJson = nlohmann::ordered_json;

constexpr uint64_t kMaxMarkBytes = 1 << 16;

std::string manifest_digest(const fs::path& checkpoint) { return io::sha256_hex(to_json(read_manifest(checkpoint))); }

}  // namespace

EvaluationMark evaluation_mark_of(const TrainState& state) {
  return {state.evaluated, state.seconds, state.best, state.best_step, state.evaluations_since_best};
}

void apply(const EvaluationMark& mark, TrainState& state) {
  state.evaluated = mark.evaluated;
  state.seconds = mark.seconds;
  state.best = mark.best;
  state.best_step = mark.best_step;
  state.evaluations_since_best = mark.evaluations_since_best;
}

void write_evaluation_mark(const fs::path& checkpoint, const EvaluationMark& mark, io::FileSystem& file_system) {
  const MarkJson json{{"schema", 1},
                      {"manifest", manifest_digest(checkpoint)},
                      {"evaluated", mark.evaluated},
                      {"seconds", mark.seconds},
                      {"best", mark.best ? MarkJson(*mark.best) : MarkJson(nullptr)},
                      {"best_step", mark.best_step},
                      {"evaluations_since_best", mark.evaluations_since_best}};
  io::write_file_atomically(checkpoint / kEvaluationMarkName, io::sealed_json(json.dump()), file_system);
}

std::optional<EvaluationMark> read_evaluation_mark(const fs::path& checkpoint) {
  const fs::path file = checkpoint / kEvaluationMarkName;
  std::error_code unreadable;
  if (!fs::exists(fs::symlink_status(file, unreadable))) return std::nullopt;
  const std::string text = io::read_text_file(file, kMaxMarkBytes);
  if (!io::is_sealed_json(text)) throw io::Error(file.string() + ": the content of the file does not match its digest");
  const io::JsonFields json(text, file.string());
  json.schema(1);
  if (json.text("manifest") != manifest_digest(checkpoint))
    throw io::Error(file.string() + ": the file belongs to another checkpoint");
  EvaluationMark mark;
  mark.evaluated = json.flag("evaluated");
  mark.seconds = json.number("seconds");
  if (!json.is_null("best")) mark.best = json.number("best");
  mark.best_step = json.count("best_step");
  mark.evaluations_since_best = json.count("evaluations_since_best");
  return mark;
}

}  // namespace cachet::train
