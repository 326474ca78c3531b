// export.json: what is taken must be the same when it is written and read again.
#include <cstdlib>
#include <span>

#include "cachet/io/error.h"
#include "cachet/runtime/export_manifest.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  try {
    const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
    const runtime::ExportManifest manifest = runtime::parse_export_manifest(text, "export.json");
    const std::string written = to_json(manifest);
    if (to_json(runtime::parse_export_manifest(written, "export.json")) != written) std::abort();
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  runtime::ExportManifest manifest;
  manifest.task = "image_classification";
  manifest.model = "vit_tiny_patch16_224";
  manifest.inputs = {{"images", runtime::Element::float32, {-1, 1, 8, 8}}};
  manifest.classes = {"cat", "dog"};
  manifest.image = runtime::ImagePreparation{1, 8, 8, 28, 28, false, 1, runtime::PixelFilter::bicubic, {0.5}, {0.25}};
  manifest.weights = "9f86";
  manifest.files = {{"model.xml", "00"}, {"model.bin", "00"}};
  std::vector<std::string> all{to_json(manifest)};
  manifest.version = 1;
  all.push_back(to_json(manifest));
  return all;
}

}  // namespace cachet::fuzz
