#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// The weights of a model as some program saved them.
struct WeightsFile {
  enum class Format { safetensors, pytorch };

  TensorMap tensors;
  Format format = Format::safetensors;
  std::string key;     // what they lay under in a checkpoint: "model", "checkpoint.model"; "" = nothing
  std::string prefix;  // that all names had and lost: "module."
  std::vector<std::string> not_tensors;  // names of the file's other entries, which are left out
};

/// Reads a safetensors file, the index of several (`….safetensors.index.json`), or a file that torch.save wrote,
/// whatever it is called. A checkpoint's weights are those under the first of the usual keys that it has: averaged ones
/// (state_dict_ema, model_ema) before the last ones (state_dict, model, model_state_dict, net, module). Usual keys may
/// lie within each other. `key`, with dots between nested keys, names the dictionary to read. Wrappers'
/// prefixes that all names share ("module.", "_orig_mod.", "model.", "backbone.") are removed. Throws io::Error: what
/// the readers refuse, a file without a state dict (naming the keys it has), names twice, a weight that is not a plain
/// tensor.
WeightsFile read_weights_file(const std::filesystem::path& path, std::string_view key = {});

}  // namespace cachet::io
