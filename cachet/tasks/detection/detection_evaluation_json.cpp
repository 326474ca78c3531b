#include <nlohmann/json.hpp>

#include "cachet/io/json/parse_json.h"
#include "cachet/tasks/detection/detection_evaluation.h"

namespace cachet::tasks {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const OverlapNumbers& numbers) {
  ordered_json classes = ordered_json::array();
  for (const OverlapNumbers::ClassRow& row : numbers.classes)
    classes.push_back({row.truths, row.detections, row.ap, row.ap50, row.ap75, row.ar});
  ordered_json json{{"numbers", numbers.numbers}, {"classes", classes}, {"curves", numbers.curves}};
  if (numbers.ap_error) json["ap_error"] = *numbers.ap_error;
  return json;
}

/// Throws for a value of any other type.
int64_t whole_number(const ordered_json& json) { return json.get_ref<const ordered_json::number_integer_t&>(); }

OverlapNumbers overlap_numbers_from(const ordered_json& json) {
  OverlapNumbers numbers;
  numbers.numbers = json.at("numbers");
  for (const auto& row : json.at("classes"))
    numbers.classes.push_back(
        {whole_number(row.at(0)), whole_number(row.at(1)), row.at(2), row.at(3), row.at(4), row.at(5)});
  numbers.curves = json.at("curves");
  if (json.contains("ap_error")) numbers.ap_error = json["ap_error"].get<double>();
  return numbers;
}

ordered_json to_json(const std::vector<ShownImage>& images, const std::vector<std::string>& class_names) {
  ordered_json json = ordered_json::array();
  for (const ShownImage& image : images)
    json.push_back({{"agreement", image.agreement},
                    {"found", ordered_json::parse(to_json_line({image.index, {}, {}, image.found}, class_names))}});
  return json;
}

std::vector<ShownImage> shown_images_from(const ordered_json& json) {
  std::vector<ShownImage> images;
  for (const auto& entry : json) {
    auto found = found_objects_from_json(entry.at("found").dump());
    if (found) images.push_back({found->index, entry.at("agreement"), std::move(found->objects)});
  }
  return images;
}

bool fits(const DetectionEvaluation& evaluation, int64_t classes) {
  const auto count = static_cast<size_t>(classes);
  const auto good = [&](const std::vector<ShownImage>& images) {
    for (const ShownImage& image : images) {
      for (const FoundObject& object : image.found) {
        if (object.label < 0 || object.label >= classes) return false;
      }
    }
    return true;
  };
  return evaluation.boxes.classes.size() == count && (!evaluation.masks || evaluation.masks->classes.size() == count) &&
         evaluation.confusion.size() == (count + 1) * (count + 1) && good(evaluation.best) && good(evaluation.worst);
}

}  // namespace

std::string to_json(const DetectionEvaluation& evaluation, const std::vector<std::string>& class_names) {
  if (evaluation.images == 0) return {};
  ordered_json json{
      {"images", evaluation.images}, {"unreadable", evaluation.unreadable}, {"boxes", to_json(evaluation.boxes)}};
  if (evaluation.masks) json["masks"] = to_json(*evaluation.masks);
  json["confusion"] = evaluation.confusion;
  json["best"] = to_json(evaluation.best, class_names);
  json["worst"] = to_json(evaluation.worst, class_names);
  return json.dump();
}

std::optional<DetectionEvaluation> detection_evaluation_from_json(const std::string& text, int64_t classes) try {
  const auto json = io::parse_json<ordered_json>(text);
  DetectionEvaluation evaluation;
  evaluation.images = whole_number(json.at("images"));
  if (json.contains("unreadable")) evaluation.unreadable = whole_number(json.at("unreadable"));
  evaluation.boxes = overlap_numbers_from(json.at("boxes"));
  if (json.contains("masks")) evaluation.masks = overlap_numbers_from(json["masks"]);
  evaluation.confusion = json.at("confusion").get<std::vector<int64_t>>();
  evaluation.best = shown_images_from(json.at("best"));
  evaluation.worst = shown_images_from(json.at("worst"));
  if (!fits(evaluation, classes)) return std::nullopt;
  return evaluation;
} catch (const ordered_json::exception&) {
  return std::nullopt;
}

}  // namespace cachet::tasks
