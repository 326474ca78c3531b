#include "cachet/io/tensors/safetensors/sharded_safetensors.h"

#include <map>
#include <set>
#include <string>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_cursor.h"
#include "cachet/io/tensors/safetensors/safetensors.h"

namespace cachet::io {
namespace {

constexpr uint64_t kMaxIndexBytes = 100'000'000;
constexpr size_t kMaxNameBytes = 1024, kMaxFiles = 10'000;

/// For each file, the tensors that the index lists for it.
using TensorsOfFiles = std::map<std::string, std::set<std::string>>;

void read_weight_map(JsonCursor& json, TensorsOfFiles& files) {
  std::set<std::string> seen;
  json.expect('{');
  if (json.take('}')) return;
  do {
    const std::string tensor = json.string("the name of a tensor", kMaxNameBytes);
    json.expect(':');
    const std::string file = json.string("the name of a file", kMaxNameBytes);
    if (!seen.insert(tensor).second) json.fail("has the tensor " + in_quotes(tensor) + " twice");
    if (file.find('/') != std::string::npos || !file.ends_with(".safetensors"))
      json.fail("names " + in_quotes(file) + ", which must be a safetensors file in the same folder");
    files[file].insert(tensor);
    if (files.size() > kMaxFiles) json.fail("names more than " + std::to_string(kMaxFiles) + " files");
  } while (json.take(','));
  json.expect('}');
}

TensorsOfFiles read_index(const std::filesystem::path& path) {
  const std::string text = read_text_file(path, kMaxIndexBytes), name = path.string();
  JsonCursor json(text, name, "index");
  TensorsOfFiles files;
  bool has_map = false;
  json.expect('{');
  if (!json.take('}')) {
    do {
      const std::string key = json.string("a key", kMaxNameBytes);
      json.expect(':');
      if (key != "weight_map") {
        json.skip_value();
        continue;
      }
      if (has_map) json.fail("has a weight_map twice");
      has_map = true;
      read_weight_map(json, files);
    } while (json.take(','));
    json.expect('}');
  }
  json.end();
  if (files.empty()) json.fail("must have a weight_map, which lists the file of each tensor");
  return files;
}

}  // namespace

bool is_safetensors_index(const std::filesystem::path& path) {
  return path.filename().string().ends_with(".safetensors.index.json");
}

TensorMap read_sharded_safetensors(const std::filesystem::path& index) {
  TensorMap all;
  for (const auto& [file, names] : read_index(index)) {
    const std::filesystem::path path = index.parent_path() / file;
    TensorMap tensors = read_safetensors(path).tensors;
    for (const std::string& name : names)
      if (!tensors.contains(name))
        throw Error(path.string() + ": has no tensor " + in_quotes(name) + ", but " + index.string() +
                    " lists this tensor for the file");
    if (tensors.size() != names.size())
      throw Error(path.string() + ": has tensors that " + index.string() + " does not list for this file");
    all.merge(tensors);
  }
  return all;
}

}  // namespace cachet::io
