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

/// The content of an exported folder, as in its export.json:
///   export.json         this, with the SHA-256 of every other file
///   model.xml, .bin     OpenVINO's form of the model; or
///   model.onnx          the model for any engine that reads ONNX; or
///   model.safetensors   the weights of the rewritten model, for LibTorch
///   recipe.toml         the recipe that the model was made with, for `cachet predict` and `cachet eval`
///   report.html         what was rewritten, and how far the results lie from the model's own
inline constexpr const char *kExportManifest = "export.json", *kExportRecipe = "recipe.toml",
                            *kExportReport = "report.html";

/// The engine onnx is OpenVINO too; other engines read its file as well.
enum class EngineKind { openvino, onnx, torch };

std::string_view to_string(EngineKind engine);  // "openvino"
[[deprecated("to_string")]] inline std::string_view word(EngineKind engine) { return to_string(engine); }
std::string_view to_string(Precision precision);  // "f32"
[[deprecated("to_string")]] inline std::string_view word(Precision precision) { return to_string(precision); }
std::string_view model_file(EngineKind engine);  // "model.xml"

/// An input of the model; −1 in its shape stands for a size that is free. 0 for a limit that the manifest does not
/// give.
struct ExportedInput {
  std::string name;
  Element element = Element::float32;
  std::vector<int64_t> shape;
  int64_t longest = 0;     // of token ids whose length is free: at most so many in a sequence
  int64_t vocabulary = 0;  // token ids are below it
  bool operator==(const ExportedInput&) const = default;
};

enum class PixelFilter { bilinear, bicubic, lanczos };

/// How an image file becomes the model's input. Each channel is divided by 255, less the mean, over the deviation.
struct ImagePreparation {
  int64_t channels = 3, height = 0, width = 0;  // of the model's input
  /// The size to which every image is brought first, as a whole: that of the data a model was trained on, where they
  /// have one. 0 leaves images as they are.
  int64_t first_height = 0, first_width = 0;
  /// Then the smallest size of the same proportions that covers the input / crop_fraction, and its middle; without it
  /// the whole image, resized after the normalisation. Pixels are resized with a rounding to whole numbers, as Pillow
  /// does it, and normalised images in floating point: "resize_in" of export.json names the kind.
  bool middle = true;
  double crop_fraction = 1;
  PixelFilter filter = PixelFilter::bicubic;
  std::vector<double> mean, deviation;                            // of each channel
  io::OrientationRule orientation = io::OrientationRule::ignore;  // first of all, of the file
  bool operator==(const ImagePreparation&) const = default;
};

/// The form of export.json. Manifests of forms 1 and 2, which version 0.1.0 wrote, have no digest of themselves; those
/// of form 3 lack the numbers in which images are resized, and the list of untrained parts.
inline constexpr int64_t kExportVersion = 4;

struct ExportManifest {
  int64_t version = kExportVersion;
  EngineKind engine = EngineKind::openvino;
  Precision precision = Precision::float32;
  std::string task;     // "image_classification"
  std::string model;    // "vit_small_patch16_224"
  std::string source;   // what it was made of, by its identity: "run 1f0c…"
  std::string weights;  // the SHA-256 of the checkpoint that it was made of; empty before form 3
  std::string made_by;  // "cachet 0.1.0, OpenVINO 2026.4.1"
  std::vector<ExportedInput> inputs;
  std::vector<std::string> classes;          // of a classifier
  std::vector<std::string> untrained{};      // parts of the model that nothing has trained; empty before form 4
  std::optional<ImagePreparation> image;     // of a classifier of images
  std::map<std::string, std::string> files;  // name and SHA-256 of all others

  const std::string& digest_of(const std::string& file) const;
};

/// In the form manifest.version. From form 3 on, the key "digest" has the SHA-256 of all the rest.
std::string to_json(const ExportManifest& manifest);

/// What an export of an earlier version lacks, a line for the user; nothing if it lacks nothing.
std::optional<std::string> lack_of(const ExportManifest& manifest);

/// Throws io::Error that begins with `name` for a text that is not a manifest, that is of a newer version, whose parts
/// do not fit together, that differs from its digest, or that has a key that its version did not write.
ExportManifest parse_export_manifest(const std::string& text, const std::string& name);

/// Whether a folder holds a manifest, be it a damaged one.
bool is_export(const std::filesystem::path& folder);

/// Whether a folder holds an export whose manifest can be read, and nothing else.
bool is_export_alone(const std::filesystem::path& folder);

/// Reads the folder's manifest alone. Throws io::Error.
ExportManifest read_export_manifest(const std::filesystem::path& folder);

/// The same, and holds the files to their digests. Throws io::Error.
ExportManifest read_export(const std::filesystem::path& folder);

}  // namespace cachet::runtime
