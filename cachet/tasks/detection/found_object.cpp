#include "cachet/tasks/detection/found_object.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cachet/io/json/parse_json.h"

namespace cachet::tasks {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const FoundObject& object, const std::vector<std::string>& class_names) {
  const geometry::SizedBox box = sized(object.box);
  ordered_json json{{"label", object.label},
                    {"class", class_names.at(static_cast<size_t>(object.label))},
                    {"score", object.score},
                    {"bbox", {box.x, box.y, box.width, box.height}}};
  if (object.mask)
    json["segmentation"] = {{"size", {object.mask->size().height, object.mask->size().width}},
                            {"counts", object.mask->text()}};
  return json;
}

int64_t required_integer(const ordered_json& json) {
  if (!json.is_number_integer()) throw std::invalid_argument("no whole number");
  return json.get<int64_t>();
}

FoundObject from_json(const ordered_json& json) {
  const auto& box = json.at("bbox");
  FoundObject object{required_integer(json.at("label")), json.at("score"),
                     corners(geometry::SizedBox{box.at(0), box.at(1), box.at(2), box.at(3)}), std::nullopt};
  if (json.contains("segmentation")) {
    const auto& mask = json["segmentation"];
    object.mask = geometry::RunLengths::from_text(
        {required_integer(mask.at("size").at(0)), required_integer(mask.at("size").at(1))},
        mask.at("counts").get<std::string>());
  }
  return object;
}

}  // namespace

std::string to_json_line(const FoundObjects& found, const std::vector<std::string>& class_names) {
  ordered_json json{{"index", found.index}};
  if (found.image_id) json["image_id"] = *found.image_id;
  if (!found.file.empty()) json["file"] = found.file;
  if (!found.problem.empty()) {
    json["error"] = found.problem;
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }
  json["detections"] = ordered_json::array();
  for (const FoundObject& object : found.objects) json["detections"].push_back(to_json(object, class_names));
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";  // names of files are any bytes
}

std::optional<FoundObjects> found_objects_from_json(const std::string& line) try {
  const auto json = io::parse_json<ordered_json>(line);
  FoundObjects found;
  found.index = required_integer(json.at("index"));
  if (json.contains("image_id")) found.image_id = required_integer(json["image_id"]);
  found.file = json.value("file", "");
  found.problem = json.value("error", "");
  if (!found.problem.empty()) return found;
  for (const auto& object : json.at("detections")) found.objects.push_back(from_json(object));
  return found;
} catch (const ordered_json::exception&) {
  return std::nullopt;
} catch (const std::invalid_argument&) {
  return std::nullopt;
}

FoundObjects read_found_objects(const std::string& record, int64_t classes) {
  auto found = found_objects_from_json(record);
  const auto is_known = [&](const FoundObject& object) { return object.label >= 0 && object.label < classes; };
  if (!found || !std::ranges::all_of(found->objects, is_known))
    throw std::runtime_error("this record is not a result of this detector: " + record.substr(0, 60));
  return *std::move(found);
}

void add_results(data::CocoResultsText& text, const FoundObjects& image, const std::vector<int64_t>& category_ids,
                 ResultForms forms) {
  for (const FoundObject& object : image.objects) {
    data::CocoDetection detection{image.image_id.value_or(image.index),
                                  category_ids.at(static_cast<size_t>(object.label)), std::nullopt, object.score,
                                  std::nullopt};
    if (forms != ResultForms::masks) detection.box = sized(object.box);
    if (forms != ResultForms::boxes) detection.mask = object.mask;
    text.add(detection);
  }
}

std::string coco_results(const std::vector<FoundObjects>& images, const std::vector<int64_t>& category_ids,
                         ResultForms forms) {
  data::CocoResultsText text;
  for (const FoundObjects& image : images) add_results(text, image, category_ids, forms);
  return std::move(text).finish();
}

}  // namespace cachet::tasks
