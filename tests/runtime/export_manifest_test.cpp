#include "cachet/runtime/export_manifest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "tests/support/temporary_directory.h"

namespace cachet::runtime {
namespace {

using Json = nlohmann::ordered_json;

ExportManifest manifest_of_images() {
  ExportManifest manifest;
  manifest.engine = EngineKind::torch;
  manifest.precision = Precision::bfloat16;
  manifest.task = "image_classification";
  manifest.model = "vit_tiny_patch16_224";
  manifest.source = "run 1f0c";
  manifest.weights = "9f86";
  manifest.made_by = "Cachet";
  manifest.inputs = {{"images", Element::float32, {-1, 3, 16, 24}}};
  manifest.classes = {"cat", "dog \"of\" war"};
  manifest.image = ImagePreparation{3, 16, 24, 0, 0, true, 0.875, PixelFilter::bilinear, {0.1, 0.2, 0.3}, {1, 2, 3}};
  manifest.files = {{"model.safetensors", "00"}};
  return manifest;
}

std::string refusal_of(const std::string& text) {
  try {
    parse_export_manifest(text, "m.json");
  } catch (const io::Error& error) {
    return error.what();
  }
  return "";
}

/// The manifest with a change and the digest that fits it.
std::string signed_text(const ExportManifest& manifest, const std::function<void(Json&)>& change) {
  Json json = Json::parse(to_json(manifest));
  json.erase("digest");
  change(json);
  json["digest"] = io::sha256_hex(json.dump(2) + "\n");
  return json.dump();
}

/// The message of parsing for a manifest that was changed together with its digest.
std::string refusal_of(const std::function<void(Json&)>& change) {
  return refusal_of(signed_text(manifest_of_images(), change));
}

ExportManifest of_version(int64_t version) {
  ExportManifest manifest = manifest_of_images();
  manifest.version = version;
  manifest.weights.clear();
  if (version == 2) manifest.image->orientation = io::OrientationRule::apply;
  return manifest;
}

TEST(ExportManifest, IsWhatItWasWhenReadAgain) {
  const ExportManifest manifest = manifest_of_images(), again = parse_export_manifest(to_json(manifest), "m.json");
  EXPECT_EQ(to_json(again), to_json(manifest));
  EXPECT_EQ(again.image, manifest.image);
  EXPECT_EQ(again.inputs, manifest.inputs);
  EXPECT_EQ(again.classes, manifest.classes);
  EXPECT_EQ(again.source, manifest.source);
  EXPECT_EQ(again.weights, "9f86");
  EXPECT_FALSE(lack_of(again));
  EXPECT_EQ(again.engine, EngineKind::torch);
  EXPECT_EQ(again.precision, Precision::bfloat16);
}

// The resize of pixels rounds to whole numbers, and that of normalised images does not.
TEST(ExportManifest, SaysInWhichNumbersImagesAreResized) {
  ExportManifest manifest = manifest_of_images();
  EXPECT_EQ(Json::parse(to_json(manifest))["image"]["resize_in"], "uint8");
  manifest.image->middle = false;
  manifest.image->first_height = manifest.image->first_width = 8;
  EXPECT_EQ(Json::parse(to_json(manifest))["image"]["resize_in"], "float32");
  EXPECT_EQ(parse_export_manifest(to_json(manifest), "m.json").image, manifest.image);
}

TEST(ExportManifest, NamesWhatWasNotTrained) {
  ExportManifest manifest = manifest_of_images();
  EXPECT_FALSE(Json::parse(to_json(manifest)).contains("untrained"));
  manifest.untrained = {"head.bias", "blocks.*.attn.cache"};
  EXPECT_EQ(parse_export_manifest(to_json(manifest), "m.json").untrained, manifest.untrained);
}

// What was written before "resize_in" and "untrained" is read, is written again as it was, and lacks nothing.
TEST(ExportManifest, OfFormThreeIsReadAsItWas) {
  const std::string text = to_json(of_version(3));
  EXPECT_FALSE(Json::parse(text)["image"].contains("resize_in"));
  const ExportManifest again = parse_export_manifest(text, "m.json");
  EXPECT_EQ(to_json(again), text);
  EXPECT_FALSE(lack_of(again));
  for (const auto& change : std::vector<std::function<void(Json&)>>{
           [](Json& json) { json["image"]["resize_in"] = "uint8"; }, [](Json& json) { json["untrained"] = {"head"}; }})
    EXPECT_NE(refusal_of(signed_text(of_version(3), change)).find("which is not allowed in this version of the file"),
              std::string::npos);
}

TEST(ExportManifest, HasLimitsOfTokens) {
  ExportManifest manifest = manifest_of_images();
  manifest.image.reset();
  manifest.inputs = {{"ids", Element::int64, {-1, -1}, 96, 259}, {"padding", Element::boolean, {-1, -1}}};
  EXPECT_EQ(parse_export_manifest(to_json(manifest), "m.json").inputs, manifest.inputs);
}

// What 0.1.0 wrote is read, is written again as it was, and has no digest.
TEST(ExportManifest, OfAnEarlierVersionSaysWhatItLacks) {
  for (const int64_t version : {1, 2}) {
    const ExportManifest manifest = of_version(version);
    const std::string text = to_json(manifest);
    EXPECT_FALSE(Json::parse(text).contains("digest"));
    EXPECT_EQ(Json::parse(text)["source"], "run 1f0c");
    const ExportManifest again = parse_export_manifest(text, "m.json");
    EXPECT_EQ(again.version, version);
    EXPECT_EQ(to_json(again), text);
    EXPECT_NE(lack_of(again).value_or("").find("has neither a digest of its content"), std::string::npos);
  }
}

// What 0.1.0 exported with padding computes the pattern of an attention for the full length, the run for that of a
// text.
TEST(ExportManifest, OfAnEarlierVersionSaysThatItPads) {
  for (const auto& [length, pads] : std::map<int64_t, bool>{{-1, false}, {96, true}}) {
    ExportManifest manifest = of_version(2);
    manifest.image.reset();
    manifest.inputs = {{"ids", Element::int64, {-1, length}}, {"padding", Element::boolean, {-1, length}}};
    const std::string lack = lack_of(manifest).value_or("");
    EXPECT_NE(lack.find("no limits for lengths"), std::string::npos);
    EXPECT_EQ(lack.find("pads each sequence to 96 tokens") != std::string::npos, pads);
    manifest.version = kExportVersion;
    EXPECT_FALSE(lack_of(manifest));
  }
}

TEST(ExportManifest, OfAnEarlierVersionHasNoKeyOfALaterOne) {
  const std::vector<std::pair<int64_t, std::function<void(Json&)>>> damages{
      {1, [](Json& json) { json["digest"] = "00"; }},
      {1,
       [](Json& json) {
         json["source"] = {{"made_of", "run 1f0c"}, {"weights", "00"}};
       }},
      {1, [](Json& json) { json["inputs"][0]["longest"] = 5; }},
      {1, [](Json& json) { json["image"]["orientation"] = "apply"; }},
      {1, [](Json& json) { json["image"]["middel"] = true; }},
      {1, [](Json& json) { json["version"] = 2; }},
      {1, [](Json& json) { json["version"] = 3; }},
      {2, [](Json& json) { json["image"].erase("orientation"); }},
      {2, [](Json& json) { json["version"] = 1; }},
      {3, [](Json& json) { json["version"] = 1; }},
      {3, [](Json& json) { json["version"] = 4; }},
      {4, [](Json& json) { json["version"] = 3; }},
      {3, [](Json& json) { json.erase("digest"); }},
  };
  for (const auto& [version, change] : damages) {
    Json json = Json::parse(to_json(of_version(version)));
    change(json);
    EXPECT_NE(refusal_of(json.dump()).find("export the model again"), std::string::npos) << json.dump();
  }
}

// One changed bit of a manifest: it is refused, or has the same content.
TEST(ExportManifest, IsHeldToItsDigest) {
  const std::string whole = to_json(manifest_of_images());
  int64_t refused = 0;
  for (size_t place = 0; place < whole.size(); ++place)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[place] = static_cast<char>(changed[place] ^ (1 << bit));
      try {
        EXPECT_EQ(to_json(parse_export_manifest(changed, "m.json")), whole) << place << ' ' << bit;
      } catch (const io::Error&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, static_cast<int64_t>(whole.size()) * 4);
}

// An export of before the key ignores orientations, and a program of before it must not read one that applies them.
TEST(ExportManifest, HasTheOrientationOnlyWhereItIsApplied) {
  ExportManifest manifest = manifest_of_images();
  EXPECT_FALSE(Json::parse(to_json(manifest))["image"].contains("orientation"));
  manifest.image->orientation = io::OrientationRule::apply;
  EXPECT_EQ(parse_export_manifest(to_json(manifest), "m.json").image, manifest.image);
  EXPECT_NE(refusal_of([](Json& json) { json["image"]["orientation"] = "up"; }).find("image.orientation: is 'up'"),
            std::string::npos);
}

TEST(ExportManifest, SaysWhatToDoWithANewerOne) {
  const std::string text = refusal_of([](Json& json) { json["version"] = 5; });
  EXPECT_NE(text.find("newer version of Cachet"), std::string::npos) << text;
  EXPECT_NE(text.find("export the model again"), std::string::npos) << text;
}

TEST(ExportManifest, RefusesWhatDoesNotFitTogether) {
  const std::vector<std::pair<std::string, std::function<void(Json&)>>> damages{
      {"format", [](Json& json) { json["format"] = "zip"; }},
      {"has no 'engine'", [](Json& json) { json.erase("engine"); }},
      {"engine: is 'tvm', but must be one of: openvino, onnx, torch", [](Json& json) { json["engine"] = "tvm"; }},
      {"precision: is 'int3'", [](Json& json) { json["precision"] = "int3"; }},
      {"precision: is int8, but only the engine openvino can run int8", [](Json& json) { json["precision"] = "int8"; }},
      {"files: has no model.onnx", [](Json& json) { json["engine"] = "onnx"; }},
      {"inputs: is empty", [](Json& json) { json["inputs"] = Json::array(); }},
      {"inputs[0].shape: must have at least two sizes, and the first size must be -1",
       [](Json& json) {
         json["inputs"][0]["shape"] = {4, 3, 16, 24};
       }},
      {"inputs[0].shape[3]: is -7, out of range", [](Json& json) { json["inputs"][0]["shape"][3] = -7; }},
      {"inputs[0].shape[0]: is 18446744073709551615, out of range",
       [](Json& json) { json["inputs"][0]["shape"][0] = 18446744073709551615ULL; }},
      {"image: must not resize images to more than",
       [](Json& json) { json["image"]["first_height"] = json["image"]["first_width"] = 65536; }},
      {"files: must list model.bin",
       [](Json& json) {
         json["engine"] = "openvino";
         json["files"]["model.xml"] = "00";
       }},
      {"inputs: is not a list", [](Json& json) { json["inputs"] = 3; }},
      {"classes: is empty", [](Json& json) { json["classes"] = Json::array(); }},
      {"classes[1]: is not a text", [](Json& json) { json["classes"][1] = 5; }},
      {"image: must have the sizes of the first input", [](Json& json) { json["image"]["width"] = 25; }},
      {"image.channels: is 4, out of range", [](Json& json) { json["image"]["channels"] = 4; }},
      {"image.channels: must be 1 (grey) or 3", [](Json& json) { json["image"]["channels"] = 2; }},
      {"image.crop_fraction: must be from 0.1 to 1", [](Json& json) { json["image"]["crop_fraction"] = 1e-300; }},
      {"image.std: must be above 0", [](Json& json) { json["image"]["std"][2] = 0; }},
      {"image: must have one value of mean and of std", [](Json& json) { json["image"]["mean"] = {0.5}; }},
      {"image: must set first_height and first_width above 0", [](Json& json) { json["image"]["first_height"] = 8; }},
      {"image: has no 'resize_in'", [](Json& json) { json["image"].erase("resize_in"); }},
      {"image.resize_in: does not match the key middle; the value must be 'uint8'",
       [](Json& json) { json["image"]["resize_in"] = "float32"; }},
      {"untrained: is not a list", [](Json& json) { json["untrained"] = "head"; }},
      {"untrained[0]: is not a text", [](Json& json) { json["untrained"] = {5}; }},
      {"image.middle: is neither", [](Json& json) { json["image"]["middle"] = "yes"; }},
      {"names '../secret'", [](Json& json) { json["files"]["../secret"] = "00"; }},
      {"files: has no model.safetensors",
       [](Json& json) {
         json["files"] = {{"x", "00"}};
       }},
  };
  for (const auto& [expected, change] : damages) {
    const std::string text = refusal_of(change);
    EXPECT_EQ(text.substr(0, 8), "m.json: ") << expected;
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
    EXPECT_NE(text.find("export the model again"), std::string::npos) << text;
  }
  for (const char* text : {"", "{", "[]", "null", "\"x\"", "\xFF"})
    EXPECT_THROW(parse_export_manifest(text, "m.json"), io::Error) << text;
}

TEST(Export, IsHeldToItsDigests) {
  const test::TemporaryDirectory folder;
  ExportManifest manifest = manifest_of_images();
  std::ofstream(folder.path() / "model.safetensors") << "weights";
  manifest.files["model.safetensors"] = io::sha256_hex(std::as_bytes(std::span<const char>("weights", 7)));
  EXPECT_FALSE(is_export(folder.path()));
  std::ofstream(folder.path() / kExportManifest) << to_json(manifest);
  EXPECT_TRUE(is_export(folder.path()));
  EXPECT_TRUE(is_export_alone(folder.path()));
  std::ofstream(folder.path() / "notes.txt") << "somebody's";
  EXPECT_FALSE(is_export_alone(folder.path()));
  std::filesystem::remove(folder.path() / "notes.txt");
  EXPECT_EQ(to_json(read_export(folder.path())), to_json(manifest));
  std::ofstream(folder.path() / "model.safetensors") << "weighty";
  try {
    read_export(folder.path());
    ADD_FAILURE() << "a changed file was taken";
  } catch (const io::Error& error) {
    EXPECT_NE(std::string(error.what()).find("the file was changed or damaged"), std::string::npos) << error.what();
  }
  std::filesystem::remove(folder.path() / "model.safetensors");
  EXPECT_THROW(read_export(folder.path()), io::Error);
}

}  // namespace
}  // namespace cachet::runtime
