#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/images/image_request.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// The files of an exported folder:
///   export.json         the manifest, with the SHA-256 of every other file
///   model.xml, .bin     OpenVINO's form of the model; or
///   model.onnx          the model for any engine that reads ONNX; or
///   model.safetensors   the weights of the rewritten model, for LibTorch
///   recipe.toml         the recipe of the model, for `cachet predict` and `cachet eval`
///   report.html         the rewritten parts, and the difference between the results and the model's own
inline constexpr const char *kExportManifest = "export.json", *kExportRecipe = "recipe.toml",
                            *kExportReport = "report.html";

/// The kinds of engines. OpenVINO and other engines can also run the file of the kind `onnx`.
enum class EngineKind { openvino, onnx, torch };

std::string_view to_string(EngineKind engine);  // "openvino"
[[deprecated("to_string")]] inline std::string_view word(EngineKind engine) { return to_string(engine); }
std::string_view to_string(Precision precision);  // "f32"
[[deprecated("to_string")]] inline std::string_view word(Precision precision) { return to_string(precision); }
std::string_view model_file(EngineKind engine);  // "model.xml"

/// An input of the model. A size of −1 in `shape` stands for any size. If the manifest gives no value for `longest` or
/// `vocabulary`, the member is 0.
struct ExportedInput {
  std::string name;
  Element element = Element::float32;
  std::vector<int64_t> shape;
  int64_t longest = 0;     // for token ids of any length: maximum number of tokens of a sequence
  int64_t vocabulary = 0;  // number of token ids
  bool operator==(const ExportedInput&) const = default;
};

enum class PixelFilter { bilinear, bicubic, lanczos };

/// The preparation of an image file as the model's input. Each channel becomes (x / 255 − mean) / deviation.
struct ImagePreparation {
  int64_t channels = 3, height = 0, width = 0;  // size of the model's input
  /// The size to which the whole image is resized first: the common size of all training images, if they have one size.
  /// If first_height and first_width are 0, the whole image is not resized first.
  int64_t first_height = 0, first_width = 0;
  /// If `middle` is true, the image is then resized without distortion to the smallest size that covers the model's
  /// input size divided by crop_fraction, and the middle of the resized image is the input. If `middle` is false, the
  /// whole image is normalised and then resized. Resized pixels are integers, as in Pillow; normalised images are
  /// floating point. The key "resize_in" in export.json names the type in which images are resized.
  bool middle = true;
  double crop_fraction = 1;
  PixelFilter filter = PixelFilter::bicubic;
  std::vector<double> mean, deviation;                            // mean and standard deviation of each channel
  io::OrientationRule orientation = io::OrientationRule::ignore;  // use of the file's orientation; applied first
  bool operator==(const ImagePreparation&) const = default;
};

/// The form of export.json. Manifests of forms 1 and 2, from version 0.1.0, have no digest of themselves. Manifests of
/// form 3 lack two entries: the dtype in which images are resized, and the list of untrained parts.
inline constexpr int64_t kExportVersion = 4;

struct ExportManifest {
  int64_t version = kExportVersion;
  EngineKind engine = EngineKind::openvino;
  Precision precision = Precision::float32;
  std::string task;     // "image_classification"
  std::string model;    // "vit_small_patch16_224"
  std::string source;   // identity of the model's source: "run 1f0c…"
  std::string weights;  // SHA-256 of the source checkpoint; empty before form 3
  std::string made_by;  // "cachet 0.1.0, OpenVINO 2026.4.1"
  std::vector<ExportedInput> inputs;
  std::vector<std::string> classes;          // class names of a classifier
  std::vector<std::string> untrained{};      // parts of the model without training; empty before form 4
  std::optional<ImagePreparation> image;     // preparation of images for a classifier of images
  std::map<std::string, std::string> files;  // name and SHA-256 of all other files

  const std::string& digest_of(const std::string& file) const;
};

/// Writes the manifest in the form whose number is manifest.version. In form 3 and later forms, the key "digest" has
/// the SHA-256 of the other entries of the manifest.
std::string to_json(const ExportManifest& manifest);

/// Returns a line for the user about what an export of an earlier version lacks, or std::nullopt for a complete export.
std::optional<std::string> lack_of(const ExportManifest& manifest);

/// Parses a manifest. Throws io::Error, which begins with `name`, if a text is not a manifest, is of a newer version,
/// has inconsistent parts, differs from its digest, or has a key that its version did not write.
ExportManifest parse_export_manifest(const std::string& text, const std::string& name);

/// Whether a folder has a manifest, which may be damaged.
bool is_export(const std::filesystem::path& folder);

/// Whether a folder has a readable manifest, and contains only files of the export.
bool is_export_alone(const std::filesystem::path& folder);

/// Reads only the manifest of a folder. Throws io::Error.
ExportManifest read_export_manifest(const std::filesystem::path& folder);

/// Reads the manifest of a folder, and compares the other files with their digests. Throws io::Error.
ExportManifest read_export(const std::filesystem::path& folder);

}  // namespace cachet::runtime
