#include "cachet/train/checkpoints/checkpoint.h"

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/config/counted.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/train/checkpoints/evaluation_mark.h"
#include "cachet/train/checkpoints/manifest.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStateName = "state.json";
constexpr std::string_view kPartial = ".partial";
constexpr std::string_view kRemoved = ".removed";

struct TensorFile {
  std::string_view name;
  io::TensorMap Checkpoint::*tensors;
  bool may_lack;  // left out where it would be empty
};

constexpr std::array<TensorFile, 6> kTensorFiles{{{"model.safetensors", &Checkpoint::model, false},
                                                  {"optimizer.safetensors", &Checkpoint::optimizer, false},
                                                  {"ema.safetensors", &Checkpoint::ema, true},
                                                  {"random.safetensors", &Checkpoint::random, false},
                                                  {"stream.safetensors", &Checkpoint::carried, true},
                                                  {"part_states.safetensors", &Checkpoint::parts, true}}};

fs::path hidden_beside(const fs::path& folder, std::string_view suffix) {
  return folder.parent_path() / std::string(".").append(folder.filename().string()).append(suffix);
}

bool is_remains(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(".step-") && (name.ends_with(kPartial) || name.ends_with(kRemoved));
}

[[noreturn]] void fail_removal(const fs::path& path) {
  throw io::Error(path.string() + ": cannot be removed: " + std::generic_category().message(errno));
}

/// Removes what a killed process left of a file that it was writing.
void remove_temporary_files(const fs::path& folder, io::FileSystem& file_system) {
  std::error_code unreadable;
  std::vector<fs::path> temporary;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable))
    if (io::is_temporary_file(entry.path())) temporary.push_back(entry.path());
  for (const fs::path& path : temporary) file_system.unlink(path);
}

/// Removes the files that a checkpoint can have, and the folder if nothing else is in it. If the path is a symbolic
/// link, removes the link alone.
void remove_known_files(const fs::path& folder, io::FileSystem& file_system) {
  std::error_code absent;
  if (fs::is_symlink(fs::symlink_status(folder, absent))) {
    file_system.unlink(folder);
    return;
  }
  for (const TensorFile& file : kTensorFiles) file_system.unlink(folder / file.name);
  file_system.unlink(folder / kStateName);
  file_system.unlink(folder / kEvaluationMarkName);
  file_system.unlink(folder / kManifestName);
  remove_temporary_files(folder, file_system);
  file_system.rmdir(folder);
}

/// Writes the files of one checkpoint and notes each in the manifest.
class CheckpointWriter {
 public:
  CheckpointWriter(fs::path folder, Manifest manifest, io::FileSystem& file_system)
      : folder_(std::move(folder)), manifest_(std::move(manifest)), file_system_(file_system) {}

  void add(std::string_view name, std::span<const std::byte> bytes) {
    manifest_.files[std::string(name)] = {bytes.size(), io::sha256_hex(bytes)};
    io::write_new_file(folder_ / name, bytes, file_system_);
  }

  void finish() {
    const std::string text = to_json(manifest_);
    io::write_new_file(folder_ / kManifestName, std::as_bytes(std::span(text)), file_system_);
    io::sync_directory(folder_, file_system_);
  }

 private:
  fs::path folder_;
  Manifest manifest_;
  io::FileSystem& file_system_;
};

void write_files(const fs::path& folder, const Checkpoint& checkpoint, const std::string& run_id,
                 io::FileSystem& file_system) {
  CheckpointWriter writer(folder, {run_id, checkpoint.state.step, {}}, file_system);
  TrainState state = checkpoint.state;
  state.tensors.clear();
  for (const TensorFile& file : kTensorFiles) {
    const io::TensorMap& tensors = checkpoint.*file.tensors;
    if (tensors.empty() && file.may_lack) continue;
    writer.add(file.name, io::serialize_safetensors(tensors));
    state.tensors[std::string(file.name)] = static_cast<int64_t>(tensors.size());
  }
  const std::string text = to_json(state);
  writer.add(kStateName, std::as_bytes(std::span(text)));
  writer.finish();
}

const Manifest::File& listed_file(const fs::path& folder, const Manifest& manifest, std::string_view name) {
  const auto listed = manifest.files.find(std::string(name));
  if (listed == manifest.files.end())
    throw DamagedCheckpoint((folder / name).string() + ": the manifest does not list this file");
  return listed->second;
}

std::string_view weights_file(const Manifest& manifest, bool averaged) {
  return averaged && manifest.files.contains("ema.safetensors") ? "ema.safetensors" : "model.safetensors";
}

/// The bytes of a file that the manifest lists. The digest is worked out next to `use`, whose result counts only when
/// the digest is right.
template <class Use>
auto use_verified(const fs::path& folder, const Manifest& manifest, std::string_view name, Use use) {
  const fs::path path = folder / name;
  const Manifest::File& listed = listed_file(folder, manifest, name);
  try {
    const std::vector<std::byte> bytes = io::read_file(path, listed.bytes);
    auto digest = std::async(std::launch::async, [&] { return io::sha256_hex(bytes); });
    std::exception_ptr failure;
    decltype(use(bytes)) result;
    try {
      result = use(bytes);
    } catch (...) {
      failure = std::current_exception();
    }
    if (digest.get() != listed.sha256) {
      throw DamagedCheckpoint(path.string() + ": the SHA-256 of the file differs from the SHA-256 in the manifest");
    }
    if (failure) std::rethrow_exception(failure);
    return result;
  } catch (const io::NewerSchema&) {
    throw;
  } catch (const io::Error& error) {
    throw DamagedCheckpoint(error.what());
  }
}

io::TensorMap read_tensors(const fs::path& folder, const Manifest& manifest, std::string_view name) {
  return use_verified(folder, manifest, name, [&](std::span<const std::byte> bytes) {
    return io::parse_safetensors(bytes, (folder / name).string()).tensors;
  });
}

/// As the checkpoint was saved.
TrainState read_saved_state(const fs::path& folder, const Manifest& manifest) {
  return use_verified(folder, manifest, kStateName, [&](std::span<const std::byte> bytes) {
    TrainState state = train_state_from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                             (folder / kStateName).string());
    if (state.step != manifest.step)
      throw io::Error((folder / kStateName).string() + ": belongs to step " + std::to_string(state.step) +
                      ", but the manifest belongs to step " + std::to_string(manifest.step));
    return state;
  });
}

/// With what its evaluation added. Why that could not be read goes to `refused`.
TrainState read_state(const fs::path& folder, const Manifest& manifest, std::string& refused) {
  TrainState state = read_saved_state(folder, manifest);
  try {
    if (const auto mark = read_evaluation_mark(folder)) apply(*mark, state);
  } catch (const io::NewerSchema&) {
    throw;
  } catch (const io::Error& error) {
    refused = error.what();
  }
  return state;
}

/// A file may have lost tensors, or all of them, and still be valid safetensors.
void require_tensor_counts(const fs::path& folder, const Checkpoint& checkpoint) {
  const std::map<std::string, int64_t>& expected = checkpoint.state.tensors;
  if (expected.empty()) return;
  for (const TensorFile& file : kTensorFiles) {
    const auto found = expected.find(std::string(file.name));
    const int64_t wanted = found == expected.end() ? 0 : found->second;
    const auto count = static_cast<int64_t>((checkpoint.*file.tensors).size());
    if (count != wanted)
      throw DamagedCheckpoint((folder / file.name).string() + ": has " + config::counted(count, "tensor") +
                              ", but the number of tensors in the manifest is " + std::to_string(wanted));
  }
}

bool lacks_optimizer(const Manifest& manifest) { return !manifest.files.contains("optimizer.safetensors"); }

}  // namespace

void write_checkpoint(const fs::path& folder, const Checkpoint& checkpoint, const std::string& run_id,
                      io::FileSystem& file_system) {
  const fs::path partial = hidden_beside(folder, kPartial);
  if (fs::exists(fs::symlink_status(partial))) remove_known_files(partial, file_system);
  if (file_system.mkdir(partial, 0777) != 0) {
    throw io::Error(partial.string() + ": the folder cannot be made for a checkpoint of " +
                    std::to_string(checkpoint_bytes(checkpoint)) + " bytes: " + std::generic_category().message(errno));
  }
  try {
    write_files(partial, checkpoint, run_id, file_system);
    io::rename_durably(partial, folder, file_system);
  } catch (...) {
    if (fs::exists(partial)) remove_known_files(partial, file_system);
    throw;
  }
}

Checkpoint read_checkpoint(const fs::path& folder) {
  const Manifest manifest = read_manifest(folder);
  if (lacks_optimizer(manifest))
    throw DamagedCheckpoint(folder.string() +
                            ": has only weights and no state of the optimizer, so the run cannot be resumed from it");
  Checkpoint checkpoint;
  checkpoint.state = read_state(folder, manifest, checkpoint.mark_refused);
  for (const TensorFile& file : kTensorFiles) {
    if (file.may_lack && !manifest.files.contains(std::string(file.name))) continue;
    checkpoint.*file.tensors = read_tensors(folder, manifest, file.name);
  }
  require_tensor_counts(folder, checkpoint);
  return checkpoint;
}

TrainState read_checkpoint_state(const fs::path& folder) {
  std::string refused;
  return read_state(folder, read_manifest(folder), refused);
}

bool holds_weights_alone(const fs::path& folder) { return lacks_optimizer(read_manifest(folder)); }

io::TensorMap read_weights(const fs::path& folder, bool averaged) {
  const Manifest manifest = read_manifest(folder);
  const std::string_view file = weights_file(manifest, averaged);
  io::TensorMap weights = read_tensors(folder, manifest, file);
  io::require_finite(weights, (folder / file).string());
  return weights;
}

std::string weights_digest(const fs::path& folder, bool averaged) {
  const Manifest manifest = read_manifest(folder);
  return listed_file(folder, manifest, weights_file(manifest, averaged)).sha256;
}

void remove_checkpoint(const fs::path& folder, io::FileSystem& file_system) {
  const Manifest manifest = read_manifest(folder);
  const fs::path removed = hidden_beside(folder, kRemoved);
  if (file_system.rename(folder, removed) != 0) fail_removal(folder);
  std::vector<std::string> names{kManifestName};
  for (const auto& [name, file] : manifest.files) names.push_back(name);
  if (fs::exists(fs::symlink_status(removed / kEvaluationMarkName))) names.emplace_back(kEvaluationMarkName);
  for (const std::string& name : names) {
    if (file_system.unlink(removed / name) != 0) fail_removal(removed / name);
  }
  remove_temporary_files(removed, file_system);
  // Somebody's own file in it is a reason to leave the folder, not to fail.
  if (file_system.rmdir(removed) != 0 && errno != ENOTEMPTY && errno != EEXIST) fail_removal(removed);
}

void remove_remains(const fs::path& checkpoints, io::FileSystem& file_system) {
  std::error_code error;
  std::vector<fs::path> remains, whole;
  for (const fs::directory_entry& entry : fs::directory_iterator(checkpoints, error)) {
    if (is_remains(entry.path())) remains.push_back(entry.path());
    if (fs::exists(entry.path() / kManifestName, error)) whole.push_back(entry.path());
  }
  remove_temporary_files(checkpoints, file_system);
  for (const fs::path& path : remains) remove_known_files(path, file_system);
  for (const fs::path& path : whole) remove_temporary_files(path, file_system);
}

uint64_t checkpoint_bytes(const Checkpoint& checkpoint) {
  uint64_t bytes = 1 << 16;  // the state, the manifest, headers of small files
  for (const TensorFile& file : kTensorFiles) {
    for (const auto& [name, tensor] : checkpoint.*file.tensors) bytes += tensor.nbytes() + name.size() + 128;
  }
  return bytes;
}

}  // namespace cachet::train
