#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// The weights of a model, as read from a file that Cachet or another program wrote.
struct WeightsFile {
  enum class Format { safetensors, pytorch };

  TensorMap tensors;
  Format format = Format::safetensors;
  std::string key;                       // key of the weights in a checkpoint: "model", "checkpoint.model"; "" = no key
  std::string prefix;                    // prefix that was removed from all names: "module."
  std::vector<std::string> not_tensors;  // names of the file's other entries, which are left out
};

/// Reads a safetensors file, an index of several such files (`….safetensors.index.json`), or a file of torch.save,
/// whatever the file's name is. In a checkpoint, the weights are the value of the first of these keys that exists:
/// state_dict_ema, model_ema (averaged weights), state_dict, model, model_state_dict, net, module (last weights). These
/// keys may be nested. `key`, with dots between nested keys, selects the dictionary to read. A wrapper's prefix
/// ("module.", "_orig_mod.", "model.", "backbone.") is removed if all names begin with it. Throws io::Error for files
/// that the readers refuse, files without a state dict (the error names their keys), repeated names, and weights that
/// are not plain tensors.
WeightsFile read_weights_file(const std::filesystem::path& path, std::string_view key = {});

}  // namespace cachet::io
