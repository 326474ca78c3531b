#include "cachet/io/tensors/weights_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "cachet/config/utf8.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/safetensors/safetensors_header.h"
#include "cachet/io/tensors/safetensors/sharded_safetensors.h"
#include "cachet/io/tensors/torch_files/torch_file.h"

namespace cachet::io {
namespace {

constexpr std::array<std::string_view, 7> kUsualKeys{"state_dict_ema",   "model_ema", "state_dict", "model",
                                                     "model_state_dict", "net",       "module"};
constexpr std::array<std::string_view, 4> kWrapperPrefixes{"module.", "_orig_mod.", "model.", "backbone."};

constexpr int kMaxLevels = 4;  // of usual keys within each other: checkpoint.model.state_dict

using Dict = PickleTree::Dict;

/// A checkpoint as torch.save wrote it, and where in it the weights lie.
class Checkpoint {
 public:
  Checkpoint(const std::filesystem::path& path, std::string_view key) : path_(path), file_(path) {
    dict_ = contents().as<Dict>(contents().root);
    if (dict_ == nullptr) refuse_root();
    refuse_repeated_keys(*dict_);
    const Dict& root = *dict_;
    if (!key.empty()) {
      const Dict* given = dict_at(root, key);
      key_ = key;
      if (given == nullptr)
        fail("has no dictionary under " + in_quotes(key) + "; " + keys_text(root) + untried_text(root));
      if (!take(*given) && !find_under_usual_keys(*given, kMaxLevels))
        fail("has no weights under " + in_quotes(key) + "; " + keys_text(*given) + why_none(*given));
    } else if (!find_under_usual_keys(root, kMaxLevels) && !take(root)) {
      fail("has no weights under the usual keys; " + keys_text(root) + untried_text(root) + why_none(root));
    }
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
      const std::string text(name == nullptr ? "(a key that is not a string)" : *name);
      if (const auto* object = contents().as<PickleTree::Object>(value); object != nullptr && object->may_be_tensor)
        fail("cannot read the weight " + in_quotes(text) + ", which is made by " +
             in_quotes(contents().globals[object->index].name) + "; in Python, save it as a plain tensor");
      if (tensor == nullptr || name == nullptr) {
        weights.not_tensors.push_back(text);
        continue;
      }
      check_tensor_name(text, path_.string());
      if (config::first_invalid_utf8(text) != std::string::npos) fail("has a tensor whose name is not UTF-8");
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
      fail("contains a pickled Python object, " + in_quotes(contents().globals[object->index].name) +
           ", but must contain a state dict; in Python, save model.state_dict()");
    fail("contains no dictionary of tensors; in Python, save model.state_dict()");
  }

  // Python keeps the last of them, and other readers the first.
  void refuse_repeated_keys(const Dict& dict) const {
    std::set<std::string_view> keys;
    for (const auto& [name, value] : dict.items)
      if (const auto* text = contents().as<std::string_view>(name); text != nullptr && !keys.insert(*text).second)
        fail("has the key " + in_quotes(*text) + " twice");
  }

  const Dict* dict_under(const Dict& dict, std::string_view key) const {
    for (const auto& [name, value] : dict.items)
      if (const auto* text = contents().as<std::string_view>(name); text != nullptr && *text == key)
        return contents().as<Dict>(value);
    return nullptr;
  }

  /// The dictionary under a key, or, with dots between keys, under one within the other.
  const Dict* dict_at(const Dict& dict, std::string_view key) const {
    refuse_repeated_keys(dict);
    if (const Dict* found = dict_under(dict, key)) return found;
    for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1))
      if (const Dict* outer = dict_under(dict, key.substr(0, dot)))
        if (const Dict* found = dict_at(*outer, key.substr(dot + 1))) return found;
    return nullptr;
  }

  /// Sets dict_ and key_ to the weights under one of the usual keys, or under several within each other.
  bool find_under_usual_keys(const Dict& dict, int levels) {
    if (!searched_.insert(&dict).second) return false;  // a file may refer to one dictionary any number of times
    refuse_repeated_keys(dict);
    for (const std::string_view usual : kUsualKeys) {
      const Dict* inner = levels > 0 ? dict_under(dict, usual) : nullptr;
      if (inner == nullptr) continue;
      const std::string before = std::exchange(key_, (key_.empty() ? "" : key_ + ".") + std::string(usual));
      if (take(*inner) || find_under_usual_keys(*inner, levels - 1)) return true;
      key_ = before;
    }
    return false;
  }

  bool take(const Dict& dict) {
    if (!has_tensors(dict)) return false;
    dict_ = &dict;
    return true;
  }

  /// A tensor of a kind that Cachet does not have, not just anything that an unknown function makes.
  bool is_unread_tensor(PickleTree::Ref ref) const {
    const auto* object = contents().as<PickleTree::Object>(ref);
    return object != nullptr && object->may_be_tensor &&
           contents().globals[object->index].kind == TorchGlobal::Kind::unsupported_storage;
  }

  bool has_tensors(const Dict& dict) const {
    return std::ranges::any_of(dict.items, [this](const auto& item) {
      return contents().template as<PickleTree::Tensor>(item.second) != nullptr || is_unread_tensor(item.second);
    });
  }

  std::string keys_text(const Dict& dict) const {
    constexpr size_t kShown = 12;
    std::vector<std::string> names;
    for (const auto& [name, value] : dict.items)
      if (const auto* text = contents().as<std::string_view>(name)) names.push_back(in_quotes(*text));
    std::string shown;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i) shown += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kShown) shown += ", and " + std::to_string(names.size() - kShown) + " more";
    return names.empty() ? "it is empty" : "it has " + shown;
  }

  /// What --key could choose: dictionaries that were not searched.
  std::string untried_text(const Dict& dict) const {
    const bool any = std::ranges::any_of(dict.items, [this](const auto& item) {
      const Dict* inner = contents().template as<Dict>(item.second);
      return inner != nullptr && !searched_.contains(inner);
    });
    return any ? "; choose one of them with --key" : "";
  }

  /// Why the dictionaries that were searched have no weights, if the file has the reason.
  std::string why_none(const Dict& dict) const {
    if (has_arrays(dict) || std::ranges::any_of(searched_, [this](const Dict* each) { return has_arrays(*each); }))
      return ". Its weights are NumPy arrays; in Python, convert the arrays to tensors (torch.from_numpy), and save "
             "the tensors with torch.save";
    return {};
  }

  bool has_arrays(const Dict& dict) const {
    return std::ranges::any_of(dict.items, [this](const auto& item) {
      const auto* object = contents().template as<PickleTree::Object>(item.second);
      if (object == nullptr) return false;
      const std::string_view maker = contents().globals[object->index].name;
      return maker.starts_with("numpy.") && (maker.ends_with("._reconstruct") || maker.ends_with("._frombuffer"));
    });
  }

  std::filesystem::path path_;
  TorchFile file_;
  const Dict* dict_ = nullptr;
  std::string key_;
  std::set<const Dict*> searched_;
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
  if (!key.empty()) throw Error(path.string() + ": is a safetensors file, so --key cannot be used");
  WeightsFile weights;
  if (is_safetensors_index(path)) {
    weights.tensors = read_sharded_safetensors(path);
    return weights;
  }
  try {
    weights.tensors = read_safetensors(path).tensors;
  } catch (const Error&) {
    if (path.extension() == ".safetensors") throw;
    throw Error(path.string() + ": is neither a file of torch.save nor a safetensors file");
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
