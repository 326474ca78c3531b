#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/image_request.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// What an exported folder is, as its export.json says:
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

std::string_view word(EngineKind engine);        // "openvino"
std::string_view word(Precision precision);      // "f32"
std::string_view model_file(EngineKind engine);  // "model.xml"

/// An input of the model; −1 in its shape stands for a size that is free.
struct ExportedInput {
  std::string name;
  Element element = Element::float32;
  std::vector<int64_t> shape;
  bool operator==(const ExportedInput&) const = default;
};

enum class PixelFilter { bilinear, bicubic };

/// How an image file becomes the model's input. Each channel is divided by 255, less the mean, over the deviation.
struct ImagePreparation {
  int64_t channels = 3, height = 0, width = 0;  // of the model's input
  /// The size to which every image is brought first, as a whole: that of the data a model was trained on, where they
  /// have one. 0 leaves images as they are.
  int64_t first_height = 0, first_width = 0;
  /// Then the smallest size of the same proportions that covers the input / crop_fraction, and its middle; without it
  /// the whole image, resized behind the normalisation.
  bool middle = true;
  double crop_fraction = 1;
  PixelFilter filter = PixelFilter::bicubic;
  std::vector<double> mean, deviation;                            // of each channel
  io::OrientationRule orientation = io::OrientationRule::ignore;  // first of all, of the file
  bool operator==(const ImagePreparation&) const = default;
};

struct ExportManifest {
  EngineKind engine = EngineKind::openvino;
  Precision precision = Precision::float32;
  std::string task;     // "image_classification"
  std::string model;    // "vit_small_patch16_224"
  std::string source;   // what it was made of, by its identity: "run 1f0c…"
  std::string made_by;  // "cachet 0.1.0, OpenVINO 2026.4.1"
  std::vector<ExportedInput> inputs;
  std::vector<std::string> classes;          // of a classifier
  std::optional<ImagePreparation> image;     // of a classifier of images
  std::map<std::string, std::string> files;  // name and SHA-256 of all others

  const std::string& digest_of(const std::string& file) const;
};

std::string to_json(const ExportManifest& manifest);

/// Throws io::Error that begins with `name` for a text that is no manifest, one of a newer version, and one whose parts
/// do not fit together.
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
