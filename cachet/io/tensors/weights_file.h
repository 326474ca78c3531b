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
  std::string key;                       // key of the weights in a checkpoint: "model", "checkpoint.model"; "" = no key
  std::string prefix;                    // prefix that was removed from all names: "module."
  std::vector<std::string> not_tensors;  // names of the file's other entries, which are left out
};

/// Reads a safetensors file, the index of several (`….safetensors.index.json`), or a file that torch.save wrote, under
/// any file name. In a checkpoint, the weights are under the first of the usual keys that it has: averaged weights
/// (state_dict_ema, model_ema) before the last weights (state_dict, model, model_state_dict, net, module). Usual keys
/// may be nested. `key`, with dots between nested keys, names the dictionary to read. Wrappers' prefixes that all names
/// share ("module.", "_orig_mod.", "model.", "backbone.") are removed. Throws io::Error for files that the readers
/// refuse, a file without a state dict (naming the keys it has), repeated names, and a weight that is not a plain
/// tensor.
WeightsFile read_weights_file(const std::filesystem::path& path, std::string_view key = {});

}  // namespace cachet::io
