#include "cachet/train/data_parallel/process_states.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/train/data_parallel/part_states.h"

namespace cachet::train {
namespace {

constexpr std::string_view kProcessPrefix = "process.";
constexpr const char* kCommonDigest = "weights";

at::Tensor digest_tensor(const io::TensorMap& tensors) {
  const io::Sha256::Digest digest = io::sha256(io::serialize_safetensors(tensors));
  at::Tensor tensor = at::empty({static_cast<int64_t>(digest.size())}, at::kByte);
  std::ranges::copy(digest, tensor.mutable_data_ptr<uint8_t>());
  return tensor;
}

}  // namespace

std::string carried_name(const std::string& name, int64_t rank) {
  return std::string(kProcessPrefix) + std::to_string(rank) + "/" + name;
}

io::TensorMap carried_by(const io::TensorMap& carried, int64_t rank) {
  const std::string prefix = rank == 0 ? "" : carried_name("", rank);
  io::TensorMap own;
  for (const auto& [name, tensor] : carried) {
    if (rank == 0 ? !name.starts_with(kProcessPrefix) : name.starts_with(prefix))
      own.emplace(name.substr(prefix.size()), tensor);
  }
  return own;
}

std::string packed_state(io::TensorMap own, const io::TensorMap& common) {
  own.emplace(kCommonDigest, digest_tensor(common));
  const std::vector<std::byte> bytes = io::serialize_safetensors(own);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void add_states_of_others(Checkpoint& checkpoint, const std::vector<std::string>& states) {
  at::Tensor first;
  for (size_t rank = 0; rank < states.size(); ++rank) {
    io::TensorMap own =
        io::parse_safetensors(std::as_bytes(std::span(states[rank])), "process " + std::to_string(rank)).tensors;
    const at::Tensor digest = own.at(kCommonDigest);
    own.erase(kCommonDigest);
    if (rank == 0) {
      first = digest;
      continue;
    }
    if (!digest.equal(first))
      throw std::logic_error(
          "process " + std::to_string(rank) +
          " has different weights from process 0: a gradient or state of the model is not summed over all processes");
    for (auto& [name, tensor] : own) {
      io::TensorMap& map = name.starts_with(kProcessPrefix) ? checkpoint.carried
                           : name.starts_with(kPartPrefix)  ? checkpoint.parts
                                                            : checkpoint.random;
      map.insert_or_assign(name, tensor);
    }
  }
}

}  // namespace cachet::train
