#include "cachet/runtime/export_manifest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/images/image_request.h"
#include "cachet/io/json/parse_json.h"

namespace cachet::runtime {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int64_t kOrientedVersion = 2;  // only manifests whose images are turned upright had this version
constexpr int64_t kDigestVersion = 3;    // from this version on, a manifest has a digest of itself
constexpr int64_t kResizeVersion = 4;    // from this version on, image has "resize_in", and "untrained" is known
constexpr const char* kFormat = "cachet-export";
constexpr uint64_t kMaxManifestBytes = uint64_t{16} << 20;
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 40;
constexpr int64_t kMaxSize = int64_t{1} << 24;  // of one dimension
constexpr size_t kMaxInputs = 16, kMaxDimensions = 8, kMaxClasses = size_t{1} << 20, kMaxParts = size_t{1} << 16;

template <class Value>
using Words = std::vector<std::pair<Value, const char*>>;

const Words<EngineKind> kEngines{
    {EngineKind::openvino, "openvino"}, {EngineKind::onnx, "onnx"}, {EngineKind::torch, "torch"}};
const Words<Precision> kPrecisions{
    {Precision::float32, "f32"}, {Precision::bfloat16, "bf16"}, {Precision::int8, "int8"}};
const Words<Element> kElements{{Element::float32, "float32"}, {Element::int64, "int64"}, {Element::boolean, "boolean"}};
const Words<io::OrientationRule> kOrientations{{io::OrientationRule::apply, "apply"},
                                               {io::OrientationRule::ignore, "ignore"}};
const Words<PixelFilter> kFilters{
    {PixelFilter::bilinear, "bilinear"}, {PixelFilter::bicubic, "bicubic"}, {PixelFilter::lanczos, "lanczos"}};

template <class Value>
const char* word_of(const Words<Value>& words, Value value) {
  for (const auto& [known, word] : words)
    if (known == value) return word;
  throw std::logic_error("export manifest: a value of an enumeration has no name");
}

/// Reads parts of a document and reports the parts that are not as they should be.
class Reader {
 public:
  Reader(const Json& json, const std::string& name, std::string place = "")
      : json_(json), name_(name), place_(std::move(place)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw io::Error(name_ + ": " + (place_.empty() ? "" : place_ + ": ") + what +
                    "; the file is damaged, or does not belong to an export: export the model again");
  }

  bool has(const char* key) const { return json_.is_object() && json_.contains(key) && !json_.at(key).is_null(); }
  Reader operator[](const char* key) const {
    if (!json_.is_object() || !json_.contains(key)) fail("has no " + io::in_quotes(key));
    return {json_.at(key), name_, place_.empty() ? key : place_ + "." + key};
  }

  /// Refuses keys that are not among these: what a reader does not know could change an answer.
  void require_keys_among(const std::set<std::string_view>& known) const {
    if (!json_.is_object()) fail("is not an object");
    for (const auto& [key, value] : json_.items())
      if (!known.contains(key))
        fail("has the key " + io::in_quotes(key) + ", which is not allowed in this version of the file");
  }

  std::string text() const {
    if (!json_.is_string()) fail("is not a text");
    return json_.get<std::string>();
  }
  int64_t integer(int64_t least, int64_t most) const {
    if (!json_.is_number_integer()) fail("is not a whole number");
    const bool is_too_large = json_.is_number_unsigned() && json_.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    const auto value = is_too_large ? INT64_MAX : json_.get<int64_t>();
    if (value < least || value > most) fail("is " + json_.dump() + ", out of range");
    return value;
  }
  bool yes_or_no() const {
    if (!json_.is_boolean()) fail("is neither true nor false");
    return json_.get<bool>();
  }
  double number() const {
    if (!json_.is_number()) fail("is not a number");
    const auto value = json_.get<double>();
    if (!std::isfinite(value)) fail("is not finite");
    return value;
  }
  std::vector<Reader> list(size_t most) const {
    if (!json_.is_array() || json_.size() > most) fail("is not a list of at most " + std::to_string(most) + " entries");
    std::vector<Reader> parts;
    for (size_t i = 0; i < json_.size(); ++i)
      parts.emplace_back(json_[i], name_, place_ + "[" + std::to_string(i) + "]");
    return parts;
  }
  template <class Value>
  Value word(const Words<Value>& words) const {
    const std::string given = text();
    std::string known;
    for (const auto& [value, word] : words) {
      if (given == word) return value;
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    fail("is " + io::in_quotes(given) + ", but must be one of: " + known);
  }
  std::map<std::string, std::string> texts() const {
    if (!json_.is_object()) fail("is not an object");
    std::map<std::string, std::string> all;
    for (const auto& [key, value] : json_.items()) all.emplace(key, Reader(value, name_, place_ + "." + key).text());
    return all;
  }

 private:
  const Json& json_;
  const std::string& name_;
  std::string place_;
};

// The numbers of the resize to the model's size.
const char* resize_numbers(const ImagePreparation& image) { return image.middle ? "uint8" : "float32"; }

ImagePreparation read_image(const Reader& json, int64_t version) {
  std::set<std::string_view> keys{"channels", "height",        "width",         "first_height", "first_width",
                                  "middle",   "crop_fraction", "interpolation", "mean",         "std"};
  if (version >= kOrientedVersion) keys.insert("orientation");
  if (version >= kResizeVersion) keys.insert("resize_in");
  json.require_keys_among(keys);
  ImagePreparation image;
  image.channels = json["channels"].integer(1, 3);
  if (image.channels == 2) json["channels"].fail("must be 1 (grey) or 3 (colour)");
  image.height = json["height"].integer(1, 65536);
  image.width = json["width"].integer(1, 65536);
  image.first_height = json["first_height"].integer(0, 65536);
  image.first_width = json["first_width"].integer(0, 65536);
  image.middle = json["middle"].yes_or_no();
  if ((image.first_height == 0) != (image.first_width == 0) || (image.first_height == 0 && !image.middle))
    json.fail("must set first_height and first_width above 0, or set both to 0 and middle to true");
  image.crop_fraction = json["crop_fraction"].number();
  if (image.crop_fraction < 0.1 || image.crop_fraction > 1) json["crop_fraction"].fail("must be from 0.1 to 1");
  // Cropping the middle, an image is first made so much larger.
  const double side = image.middle ? 1 / image.crop_fraction : 1;
  const auto pixels = [](int64_t height, int64_t width) {
    return static_cast<double>(height) * static_cast<double>(width);
  };
  if (std::max(pixels(image.height, image.width) * side * side, pixels(image.first_height, image.first_width)) >
      static_cast<double>(io::kMaxImagePixels))
    json.fail("must not resize images to more than " + std::to_string(io::kMaxImagePixels) + " pixels");
  image.filter = json["interpolation"].word(kFilters);
  if (version >= kResizeVersion && json["resize_in"].text() != resize_numbers(image))
    json["resize_in"].fail("does not match the key middle; the value must be " + io::in_quotes(resize_numbers(image)));
  if (json.has("orientation")) image.orientation = json["orientation"].word(kOrientations);
  for (const Reader& value : json["mean"].list(3)) image.mean.push_back(value.number());
  for (const Reader& value : json["std"].list(3)) image.deviation.push_back(value.number());
  const auto channels = static_cast<size_t>(image.channels);
  if (image.mean.size() != channels || image.deviation.size() != channels)
    json.fail("must have one value of mean and of std for each channel");
  for (const double value : image.deviation)
    if (value <= 0) json["std"].fail("must be above 0");
  return image;
}

// A name that stays within the folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

ExportedInput read_input(const Reader& json, int64_t version) {
  std::set<std::string_view> keys{"name", "element", "shape"};
  if (version >= kDigestVersion) keys.insert({"longest", "vocabulary"});
  json.require_keys_among(keys);
  ExportedInput input{json["name"].text(), json["element"].word(kElements), {}};
  for (const auto& [key, limit] : {std::pair("longest", &input.longest), {"vocabulary", &input.vocabulary}})
    if (json.has(key)) *limit = json[key].integer(1, kMaxSize);
  for (const Reader& size : json["shape"].list(kMaxDimensions)) input.shape.push_back(size.integer(-1, kMaxSize));
  if (input.shape.size() < 2 || input.shape[0] != -1)
    json["shape"].fail("must have at least two sizes, and the first size must be -1 (the batch)");
  return input;
}

}  // namespace

std::string_view to_string(EngineKind engine) { return word_of(kEngines, engine); }
std::string_view to_string(Precision precision) { return word_of(kPrecisions, precision); }
std::string_view model_file(EngineKind engine) {
  switch (engine) {
    case EngineKind::openvino:
      return "model.xml";
    case EngineKind::onnx:
      return "model.onnx";
    case EngineKind::torch:
      break;
  }
  return "model.safetensors";
}

const std::string& ExportManifest::digest_of(const std::string& file) const {
  const auto found = files.find(file);
  if (found == files.end())
    throw io::Error(std::string(kExportManifest) + ": does not list the file " + io::in_quotes(file));
  return found->second;
}

namespace {

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Of a manifest without its digest.
std::string digest_of_all(const Json& json) { return io::sha256_hex(text_of(json)); }

// What 0.1.0 wrote has no digest, so that a key which 0.1.0 did not write shows that the file was changed.
void check_form(const Json& parsed, const Reader& json, int64_t version) {
  std::set<std::string_view> keys{"format", "version", "engine", "precision", "task",    "model",
                                  "source", "made_by", "inputs", "image",     "classes", "files"};
  if (version >= kDigestVersion) keys.insert("digest");
  if (version >= kResizeVersion) keys.insert("untrained");
  json.require_keys_among(keys);
  if (version >= kDigestVersion) {
    Json rest = parsed;
    rest.erase("digest");
    if (json["digest"].text() != digest_of_all(rest)) json["digest"].fail("does not match the other keys of the file");
    return;
  }
  const bool is_oriented = json.has("image") && json["image"].has("orientation");
  if (is_oriented == (version == kOrientedVersion)) return;
  json["version"].fail(is_oriented ? "is 1, but a file of version 1 must not have image.orientation"
                                   : "is 2, but image.orientation, which a file of version 2 must have, is missing");
}

}  // namespace

std::string to_json(const ExportManifest& manifest) {
  const bool has_digest = manifest.version >= kDigestVersion;
  Json source = manifest.source;
  if (has_digest) source = Json{{"made_of", manifest.source}, {"weights", manifest.weights}};
  Json json{{"format", kFormat},
            {"version", manifest.version},
            {"engine", word_of(kEngines, manifest.engine)},
            {"precision", word_of(kPrecisions, manifest.precision)},
            {"task", manifest.task},
            {"model", manifest.model},
            {"source", source},
            {"made_by", manifest.made_by},
            {"inputs", Json::array()}};
  for (const ExportedInput& input : manifest.inputs) {
    Json& written = json["inputs"].emplace_back(
        Json{{"name", input.name}, {"element", word_of(kElements, input.element)}, {"shape", input.shape}});
    if (input.longest > 0) written["longest"] = input.longest;
    if (input.vocabulary > 0) written["vocabulary"] = input.vocabulary;
  }
  if (manifest.image) {
    const ImagePreparation& image = *manifest.image;
    json["image"] = {{"channels", image.channels},
                     {"height", image.height},
                     {"width", image.width},
                     {"first_height", image.first_height},
                     {"first_width", image.first_width},
                     {"middle", image.middle},
                     {"crop_fraction", image.crop_fraction},
                     {"interpolation", word_of(kFilters, image.filter)},
                     {"mean", image.mean},
                     {"std", image.deviation}};
    if (manifest.version >= kResizeVersion) json["image"]["resize_in"] = resize_numbers(image);
    if (image.orientation == io::OrientationRule::apply)
      json["image"]["orientation"] = word_of(kOrientations, image.orientation);
  }
  json["classes"] = manifest.classes;
  if (!manifest.untrained.empty()) json["untrained"] = manifest.untrained;
  json["files"] = manifest.files;
  if (has_digest) json["digest"] = digest_of_all(json);
  return text_of(json);
}

std::optional<std::string> lack_of(const ExportManifest& manifest) {
  if (manifest.version >= kDigestVersion) return std::nullopt;
  const auto ids = std::ranges::find(manifest.inputs, Element::int64, &ExportedInput::element);
  std::string lack = std::string("is an export of an earlier version: ") + kExportManifest +
                     " has neither a digest of its content nor the name of the checkpoint";
  if (ids != manifest.inputs.end()) {
    lack += ", and no limits for lengths and token ids";
    if (ids->shape.size() > 1 && ids->shape[1] >= 0)
      lack += ". The export pads each sequence to " + std::to_string(ids->shape[1]) +
              " tokens, so the prediction for a shorter sequence may differ from the prediction of the run";
  }
  return lack + "; export the model again";
}

ExportManifest parse_export_manifest(const std::string& text, const std::string& name) {
  const Json parsed = io::parse_json<Json>(text, /*throws=*/false);
  const Reader json(parsed, name);
  if (parsed.is_discarded()) json.fail("is not valid JSON");
  if (!json.has("format") || json["format"].text() != kFormat)
    json.fail("is not of format '" + std::string(kFormat) + "'");
  const int64_t version = json["version"].integer(1, kMaxSize);
  if (version > kExportVersion)
    throw io::Error(name + ": was written by a newer version of Cachet (format " + std::to_string(version) +
                    "; this version reads formats up to " + std::to_string(kExportVersion) +
                    "); install the newer version, or export the model again with this version");
  check_form(parsed, json, version);
  ExportManifest manifest;
  manifest.version = version;
  manifest.engine = json["engine"].word(kEngines);
  manifest.precision = json["precision"].word(kPrecisions);
  if (manifest.precision == Precision::int8 && manifest.engine != EngineKind::openvino)
    json["precision"].fail("is int8, but only the engine openvino can run int8");
  manifest.task = json["task"].text();
  manifest.model = json["model"].text();
  const Reader source = json["source"];
  if (version >= kDigestVersion) {
    source.require_keys_among({"made_of", "weights"});
    manifest.source = source["made_of"].text();
    manifest.weights = source["weights"].text();
  } else {
    manifest.source = source.text();
  }
  manifest.made_by = json["made_by"].text();
  for (const Reader& input : json["inputs"].list(kMaxInputs)) manifest.inputs.push_back(read_input(input, version));
  if (manifest.inputs.empty()) json["inputs"].fail("is empty");
  for (const Reader& label : json["classes"].list(kMaxClasses)) manifest.classes.push_back(label.text());
  if (json.has("untrained"))
    for (const Reader& part : json["untrained"].list(kMaxParts)) manifest.untrained.push_back(part.text());
  // LibTorch alone runs models that write text, which have none.
  const bool may_write_text = manifest.engine == EngineKind::torch && !json.has("image");
  if (manifest.classes.empty() && !may_write_text) json["classes"].fail("is empty");
  if (json.has("image")) {
    manifest.image = read_image(json["image"], version);
    const ImagePreparation& image = *manifest.image;
    if (manifest.inputs.front().shape != std::vector<int64_t>{-1, image.channels, image.height, image.width})
      json["image"].fail("must have the sizes of the first input of the model");
  }
  manifest.files = json["files"].texts();
  for (const auto& [file, digest] : manifest.files)
    if (!is_plain_name(file))
      json["files"].fail("names " + io::in_quotes(file) + ", which is not a file in the folder");
  const std::string model(model_file(manifest.engine));
  if (!manifest.files.contains(model)) json["files"].fail("has no " + model);
  if (manifest.engine == EngineKind::openvino && !manifest.files.contains("model.bin"))
    json["files"].fail("must list model.bin, which has the weights");
  return manifest;
}

bool is_export(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / kExportManifest, error);
}

bool is_export_alone(const fs::path& folder) {
  if (!is_export(folder)) return false;
  std::set<std::string> names{kExportManifest, kExportReport};
  try {
    for (const auto& [name, digest] : read_export_manifest(folder).files) names.insert(name);
  } catch (const io::Error&) {
    return false;
  }
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!names.contains(entry->path().filename().string())) return false;
  return !error;
}

ExportManifest read_export_manifest(const fs::path& folder) {
  const fs::path path = folder / kExportManifest;
  return parse_export_manifest(io::read_text_file(path, kMaxManifestBytes), path.string());
}

ExportManifest read_export(const fs::path& folder) {
  ExportManifest manifest = read_export_manifest(folder);
  for (const auto& [file, digest] : manifest.files)
    if (io::sha256_hex(io::read_file(folder / file, kMaxFileBytes)) != digest)
      throw io::Error((folder / file).string() + ": its SHA-256 differs from the SHA-256 in " + kExportManifest +
                      ", so the file was changed or damaged; export the model again");
  return manifest;
}

}  // namespace cachet::runtime
