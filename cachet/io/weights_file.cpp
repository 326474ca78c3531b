#include "cachet/io/weights_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "cachet/config/utf8.h"
#include "cachet/io/error.h"
#include "cachet/io/safetensors.h"
#include "cachet/io/safetensors_header.h"
#include "cachet/io/sharded_safetensors.h"
#include "cachet/io/torch_file.h"

namespace cachet::io {
namespace {

constexpr std::array<std::string_view, 7> kUsualKeys{"state_dict_ema",   "model_ema", "state_dict", "model",
                                                     "model_state_dict", "net",       "module"};
constexpr std::array<std::string_view, 4> kWrapperPrefixes{"module.", "_orig_mod.", "model.", "backbone."};

using Dict = PickleTree::Dict;

/// A checkpoint as torch.save wrote it, and where in it the weights lie.
class Checkpoint {
 public:
  Checkpoint(const std::filesystem::path& path, std::string_view key) : path_(path), file_(path) {
    dict_ = contents().as<Dict>(contents().root);
    if (dict_ == nullptr) refuse_root();
    refuse_repeated_keys(*dict_);
    if (!key.empty()) {
      dict_ = dict_under(key);
      if (dict_ == nullptr || !has_tensors(*dict_)) fail("has no weights under " + in_quotes(key) + "; " + keys_text());
      key_ = key;
      return;
    }
    for (const std::string_view usual : kUsualKeys) {
      const Dict* found = dict_under(usual);
      if (found == nullptr || !has_tensors(*found)) continue;
      dict_ = found;
      key_ = usual;
      return;
    }
    if (!has_tensors(*dict_))
      fail("has no weights under a usual key; " + keys_text() + ", which --key can choose from");
  }

  WeightsFile read() const {
    WeightsFile weights;
    weights.format = WeightsFile::Format::pytorch;
    weights.key = key_;
    refuse_repeated_keys(*dict_);
    std::map<std::string, PickleTree::Tensor> tensors;
    for (const auto& [key, value] : dict_->items) {
      const auto* name = contents().as<std::string_view>(key);
      const auto* tensor = contents().as<PickleTree::Tensor>(value);
      const std::string text(name == nullptr ? "(a key that is no text)" : *name);
      if (tensor == nullptr || name == nullptr) {
        weights.not_tensors.push_back(text);
        continue;
      }
      check_tensor_name(text, path_.string());
      if (config::first_invalid_utf8(text) != std::string::npos) fail("has a tensor whose name is no UTF-8");
      tensors.emplace(text, *tensor);
    }
    weights.tensors = file_.tensors(tensors);
    return weights;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw Error(path_.string() + ": " + message); }
  const PickleTree& contents() const { return file_.contents(); }

  [[noreturn]] void refuse_root() const {
    if (const auto* object = contents().as<PickleTree::Object>(contents().root))
      fail("holds a whole object of Python, " + in_quotes(contents().globals[object->index].name) +
           ", and no state dict; in Python, save model.state_dict() instead");
    fail("holds no dictionary of tensors; in Python, save model.state_dict()");
  }

  // Python keeps the last of them, and other readers the first.
  void refuse_repeated_keys(const Dict& dict) const {
    std::set<std::string_view> keys;
    for (const auto& [name, value] : dict.items)
      if (const auto* text = contents().as<std::string_view>(name); text != nullptr && !keys.insert(*text).second)
        fail("has the key " + in_quotes(*text) + " twice");
  }

  const Dict* dict_under(std::string_view key) const {
    for (const auto& [name, value] : contents().as<Dict>(contents().root)->items)
      if (const auto* text = contents().as<std::string_view>(name); text != nullptr && *text == key)
        return contents().as<Dict>(value);
    return nullptr;
  }

  bool has_tensors(const Dict& dict) const {
    return std::ranges::any_of(dict.items, [this](const auto& item) {
      return contents().template as<PickleTree::Tensor>(item.second) != nullptr;
    });
  }

  std::string keys_text() const {
    constexpr size_t kShown = 12;
    std::vector<std::string> names;
    for (const auto& [name, value] : contents().as<Dict>(contents().root)->items)
      if (const auto* text = contents().as<std::string_view>(name)) names.push_back(in_quotes(*text));
    std::string shown;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i) shown += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kShown) shown += ", and " + std::to_string(names.size() - kShown) + " more";
    return names.empty() ? "it is empty" : "it has " + shown;
  }

  std::filesystem::path path_;
  TorchFile file_;
  const Dict* dict_ = nullptr;
  std::string key_;
};

std::string shared_prefix(const TensorMap& tensors) {
  for (const std::string_view prefix : kWrapperPrefixes)
    if (!tensors.empty() && std::ranges::all_of(tensors, [&](const auto& item) {
          return item.first.size() > prefix.size() && item.first.starts_with(prefix);
        }))
      return std::string(prefix);
  return {};
}

TensorMap without_prefix(const TensorMap& tensors, size_t size) {
  TensorMap shorter;
  for (const auto& [name, tensor] : tensors) shorter.emplace(name.substr(size), tensor);
  return shorter;
}

WeightsFile read_as_saved(const std::filesystem::path& path, std::string_view key) {
  if (looks_like_torch_file(path)) return Checkpoint(path, key).read();
  if (!key.empty()) throw Error(path.string() + ": is a safetensors file, which has no keys to choose from");
  WeightsFile weights;
  if (is_safetensors_index(path)) {
    weights.tensors = read_sharded_safetensors(path);
    return weights;
  }
  try {
    weights.tensors = read_safetensors(path).tensors;
  } catch (const Error&) {
    if (path.extension() == ".safetensors") throw;
    throw Error(path.string() + ": is neither what torch.save writes nor a safetensors file");
  }
  return weights;
}

}  // namespace

WeightsFile read_weights_file(const std::filesystem::path& path, std::string_view key) {
  WeightsFile weights = read_as_saved(path, key);
  for (std::string prefix = shared_prefix(weights.tensors); !prefix.empty(); prefix = shared_prefix(weights.tensors)) {
    weights.tensors = without_prefix(weights.tensors, prefix.size());
    weights.prefix += prefix;
  }
  return weights;
}

}  // namespace cachet::io
