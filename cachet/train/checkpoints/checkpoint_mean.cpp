#include "cachet/train/checkpoints/checkpoint_mean.h"

#include <ATen/ops/zeros_like.h>

#include <span>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/manifest.h"

namespace cachet::train {
namespace {

/// The first name of `weights` that `others` lacks, or has with another shape or type; empty where there is none.
std::string unmatched_name(const io::TensorMap& weights, const io::TensorMap& others) {
  for (const auto& [name, tensor] : weights) {
    const auto other = others.find(name);
    if (other == others.end() || !other->second.sizes().equals(tensor.sizes()) ||
        other->second.scalar_type() != tensor.scalar_type())
      return name;
  }
  return {};
}

void require_match(const std::filesystem::path& folder, const io::TensorMap& weights,
                   const std::filesystem::path& last_folder, const io::TensorMap& last) {
  std::string name = unmatched_name(weights, last);
  if (name.empty()) name = unmatched_name(last, weights);
  if (!name.empty())
    throw io::Error(folder.string() + " and " + last_folder.string() + " do not have the same '" + name +
                    "'; only checkpoints of the same model can be averaged");
}

}  // namespace

CheckpointMean mean_of_checkpoints(const std::vector<std::filesystem::path>& oldest_first,
                                   const std::set<std::string>& parameters) {
  if (oldest_first.empty()) throw io::Error("there are no checkpoints to average");
  const std::filesystem::path& last_folder = oldest_first.back();
  CheckpointMean mean;
  mean.run = read_manifest(last_folder).run;
  mean.state = read_checkpoint(last_folder).state;
  mean.weights = read_weights(last_folder, /*averaged=*/false);
  io::TensorMap sums;
  for (const auto& [name, tensor] : mean.weights)
    if (parameters.contains(name) && tensor.is_floating_point())
      sums.emplace(name, at::zeros_like(tensor, tensor.options().dtype(at::kDouble)));
  for (const std::filesystem::path& folder : oldest_first) {
    const Manifest manifest = read_manifest(folder);
    if (manifest.run != mean.run)
      throw io::Error(folder.string() + " and " + last_folder.string() +
                      " belong to different runs; only checkpoints of the same run can be averaged");
    mean.steps.push_back(manifest.step);
    const io::TensorMap weights = read_weights(folder, /*averaged=*/false);
    require_match(folder, weights, last_folder, mean.weights);
    for (auto& [name, sum] : sums) sum.add_(weights.at(name));
  }
  for (auto& [name, sum] : sums) {
    at::Tensor& weight = mean.weights.at(name);
    weight = sum.div_(static_cast<double>(oldest_first.size())).to(weight.scalar_type());
  }
  return mean;
}

void write_weights_checkpoint(const std::filesystem::path& folder, const io::TensorMap& weights, TrainState state,
                              const std::string& run_id) {
  io::NewFolder fresh(folder, io::NewFolder::Taken::replaced);
  Manifest manifest{run_id, state.step, {}};
  const auto add = [&](const char* name, std::span<const std::byte> bytes) {
    manifest.files[name] = {bytes.size(), io::sha256_hex(bytes)};
    io::write_new_file(fresh.path() / name, bytes);
  };
  add("model.safetensors", io::serialize_safetensors(weights));
  state.for_evaluation = false;
  state.tensors = {{"model.safetensors", static_cast<int64_t>(weights.size())}};
  const std::string state_text = to_json(state);
  add("state.json", std::as_bytes(std::span(state_text)));
  io::write_new_file(fresh.path() / kManifestName, to_json(manifest));
  fresh.finish();
}

}  // namespace cachet::train
