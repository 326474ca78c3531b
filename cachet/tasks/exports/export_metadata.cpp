#include "cachet/tasks/exports/export_metadata.h"

#include <nlohmann/json.hpp>

#include "cachet/io/json/parse_json.h"
#include "cachet/train/machine/environment.h"

namespace cachet::tasks {

deploy::ModelMetadata metadata_of(const runtime::ExportManifest& manifest) {
  const auto json = io::parse_json<nlohmann::ordered_json>(to_json(manifest));
  deploy::ModelMetadata metadata{{deploy::kVersionOfMetadata, train::cachet_version()}};
  for (const char* key : {"model", "task", "source", "precision", "classes", "image", "untrained"})
    if (const auto found = json.find(key); found != json.end() && !found->is_null())
      metadata[key] = found->is_string() ? found->get<std::string>() : found->dump();
  return metadata;
}

}  // namespace cachet::tasks
