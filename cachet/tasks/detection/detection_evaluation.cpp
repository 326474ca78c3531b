#include "cachet/tasks/detection/detection_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "cachet/io/json/parse_json.h"
#include "cachet/metrics/coco_error.h"
#include "cachet/report/format.h"

namespace cachet::tasks {
namespace {

constexpr size_t kShownImages = 6;
constexpr int kCurveStep = 2;  // of the ten overlaps every second one

// The twelve numbers: name after "box_" or "mask_", COCO's words, and the chart that they are in.
struct NumberWords {
  const char *name, *title, *words, *family;
};
constexpr std::array<NumberWords, 12> kNumbers{{
    {"ap", "AP", "AP, overlap 0.50 to 0.95, all sizes, 100 detections", "AP"},
    {"ap50", "AP50", "AP, overlap 0.50, all sizes, 100 detections", "AP"},
    {"ap75", "AP75", "AP, overlap 0.75, all sizes, 100 detections", "AP"},
    {"ap_small", "AP small", "AP, overlap 0.50 to 0.95, small, 100 detections", "AP by size"},
    {"ap_medium", "AP medium", "AP, overlap 0.50 to 0.95, medium, 100 detections", "AP by size"},
    {"ap_large", "AP large", "AP, overlap 0.50 to 0.95, large, 100 detections", "AP by size"},
    {"ar1", "AR1", "AR, overlap 0.50 to 0.95, all sizes, 1 detection", "AR"},
    {"ar10", "AR10", "AR, overlap 0.50 to 0.95, all sizes, 10 detections", "AR"},
    {"ar100", "AR100", "AR, overlap 0.50 to 0.95, all sizes, 100 detections", "AR"},
    {"ar_small", "AR small", "AR, overlap 0.50 to 0.95, small, 100 detections", "AR by size"},
    {"ar_medium", "AR medium", "AR, overlap 0.50 to 0.95, medium, 100 detections", "AR by size"},
    {"ar_large", "AR large", "AR, overlap 0.50 to 0.95, large, 100 detections", "AR by size"},
}};

OverlapNumbers overlap_numbers(const std::vector<metrics::ImageVerdicts>& images, int64_t classes, int threads) {
  const auto categories = static_cast<int32_t>(classes);
  const metrics::CocoResult result = metrics::summarize(images, categories, threads);
  OverlapNumbers numbers;
  numbers.numbers = result.numbers.values();
  numbers.ap_error = metrics::average_precision_error(images, categories, threads);
  for (const metrics::CategoryResult& category : result.categories)
    numbers.classes.push_back(
        {category.truths, category.detections, category.ap, category.ap50, category.ap75, category.ar});
  for (int t = 0; t < metrics::kOverlapThresholds; t += kCurveStep) numbers.curves.push_back(result.precision_curve(t));
  return numbers;
}

void add_metrics(const OverlapNumbers& numbers, const std::string& prefix, train::Metrics& metrics) {
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    if (numbers.numbers[i] < 0) continue;
    metrics.set(prefix + kNumbers[i].name, numbers.numbers[i]);
    if (i == 0 && numbers.ap_error)
      metrics.set(prefix + kNumbers[i].name + std::string(report::kErrorSuffix), *numbers.ap_error);
  }
}

// Keeps the first kShownImages by `before`.
template <class Before>
void keep_shown(std::vector<ShownImage>& kept, const ShownImage& image, Before before) {
  const auto place = std::upper_bound(kept.begin(), kept.end(), image, before);
  if (place == kept.end() && kept.size() == kShownImages) return;
  kept.insert(place, image);
  if (kept.size() > kShownImages) kept.pop_back();
}

std::string number_text(double number) { return number < 0 ? "–" : report::format_fixed(number, 3); }

/// The first of the numbers has its error after it.
std::string number_text(const OverlapNumbers& numbers, size_t i) {
  const bool has_error = i == 0 && numbers.ap_error && numbers.numbers[i] >= 0;
  return number_text(numbers.numbers[i]) + (has_error ? " ± " + report::format_fixed(*numbers.ap_error, 3) : "");
}

report::Cell number_cell(double number) {
  return number < 0 ? report::Cell("–") : report::Cell(number_text(number), number);
}

}  // namespace

train::Metrics DetectionEvaluation::metrics() const {
  train::Metrics metrics;
  add_metrics(boxes, "box_", metrics);
  if (masks) add_metrics(*masks, "mask_", metrics);
  // If nothing was measured, AP is not a number, which is null in JSON.
  const std::vector<std::string> headings =
      masks ? std::vector<std::string>{"box_ap", "mask_ap"} : std::vector<std::string>{"box_ap"};
  for (const std::string& name : headings)
    if (!metrics.find(name)) metrics.set(name, std::numeric_limits<double>::quiet_NaN());
  if (unreadable > 0) metrics.set("unreadable_images", static_cast<double>(unreadable));
  return metrics;
}

std::vector<report::MetricDescription> detection_metrics(bool masks) {
  using report::Better, report::ValueForm;
  std::vector<report::MetricDescription> descriptions;
  for (const std::string kind : {"box", "mask"}) {
    if (kind == "mask" && !masks) break;
    for (const NumberWords& number : kNumbers)
      descriptions.push_back({.name = kind + "_" + number.name,
                              .title = kind + " " + number.title,
                              .form = ValueForm::fixed,
                              .better = Better::higher,
                              .decides = descriptions.empty(),
                              .family = kind + " " + number.family});
  }
  if (masks) std::ranges::find(descriptions, "mask_ap", &report::MetricDescription::name)->headline = true;
  descriptions.push_back({.name = "loss",
                          .title = "loss",
                          .form = ValueForm::fixed,
                          .better = Better::lower,
                          .family = train::kLossFamily});
  descriptions.push_back({"unreadable_images", "images that could not be read", ValueForm::whole});
  return descriptions;
}

void DetectionTally::add(int64_t index, int64_t image_id, const std::vector<metrics::TrueObject>& truths,
                         const std::vector<FoundObject>& found) {
  std::vector<metrics::DetectedObject> detections;
  for (const FoundObject& object : found) {
    metrics::DetectedObject detection{
        .category = static_cast<int32_t>(object.label), .box = sized(object.box), .score = object.score};
    if (masks_ && object.mask) detection.mask = *object.mask;
    detections.push_back(std::move(detection));
  }
  boxes_.push_back(metrics::match_image(image_id, truths, detections, metrics::OverlapKind::boxes));
  if (masks_) outlines_.push_back(metrics::match_image(image_id, truths, detections, metrics::OverlapKind::masks));
  const ShownImage shown{index, compare(truths, found), found};
  if (truths.empty()) return;  // nothing to look at
  const auto better = [](const ShownImage& a, const ShownImage& b) {
    return std::pair(-a.agreement, a.index) < std::pair(-b.agreement, b.index);
  };
  const auto worse = [](const ShownImage& a, const ShownImage& b) {
    return std::pair(a.agreement, a.index) < std::pair(b.agreement, b.index);
  };
  keep_shown(best_, shown, better);
  keep_shown(worst_, shown, worse);
}

double DetectionTally::compare(const std::vector<metrics::TrueObject>& truths, const std::vector<FoundObject>& found) {
  std::vector<uint8_t> taken(truths.size(), 0);
  int64_t hits = 0, answers = 0, objects = 0;
  const auto count = [&](int64_t truth, int64_t answer) {
    ++confusion_[static_cast<size_t>(truth * (classes_ + 1) + answer)];
  };
  for (const FoundObject& object : found) {  // the surest first
    if (object.score < kShownScore) continue;
    size_t best = truths.size();
    double overlap = 0.5;
    bool on_crowd = false;
    for (size_t t = 0; t < truths.size(); ++t) {
      const double shared = geometry::overlap(sized(object.box), truths[t].box, truths[t].crowd);
      if (truths[t].crowd) {
        on_crowd |= shared >= 0.5;
      } else if (taken[t] == 0 && shared >= overlap) {
        best = t;
        overlap = shared;
      }
    }
    if (best < truths.size()) {
      taken[best] = 1;
      ++answers;
      hits += truths[best].category == object.label ? 1 : 0;
      count(truths[best].category, object.label);
    } else if (!on_crowd) {
      ++answers;
      count(classes_, object.label);
    }
  }
  for (size_t t = 0; t < truths.size(); ++t) {
    if (truths[t].crowd) continue;
    ++objects;
    if (taken[t] == 0) count(truths[t].category, classes_);
  }
  return answers + objects == 0 ? 1 : 2 * static_cast<double>(hits) / static_cast<double>(answers + objects);
}

DetectionEvaluation DetectionTally::finish(int threads) const {
  DetectionEvaluation evaluation;
  evaluation.images = static_cast<int64_t>(boxes_.size());
  evaluation.boxes = overlap_numbers(boxes_, classes_, threads);
  if (masks_) evaluation.masks = overlap_numbers(outlines_, classes_, threads);
  evaluation.confusion = confusion_;
  evaluation.best = best_;
  evaluation.worst = worst_;
  return evaluation;
}

std::vector<report::Block> detection_blocks(const DetectionEvaluation& evaluation,
                                            const std::vector<std::string>& class_names) {
  using report::Alignment;
  std::vector<report::Block> blocks;
  const OverlapNumbers& boxes = evaluation.boxes;
  const OverlapNumbers* masks = evaluation.masks ? &*evaluation.masks : nullptr;

  report::Table numbers{"COCO's numbers", {{"number"}, {"boxes", Alignment::right}}, {}, ""};
  if (masks != nullptr) numbers.columns.push_back({"masks", Alignment::right});
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    numbers.rows.push_back({kNumbers[i].words, number_text(boxes, i)});
    if (masks != nullptr) numbers.rows.back().push_back(number_text(*masks, i));
  }
  numbers.note =
      "The last evaluation, of " + std::to_string(evaluation.images) +
      " images. Small objects have up to 32² pixels, and medium objects up to 96² pixels. A dash means that the images "
      "have no object of this size. ± is the standard error of AP over the images, estimated by bootstrap.";
  blocks.push_back(numbers);

  report::Table classes{"Classes",
                        {{"class"},
                         {"objects", Alignment::right},
                         {"detections", Alignment::right},
                         {"box AP", Alignment::right, report::Better::higher},
                         {"box AP50", Alignment::right, report::Better::higher},
                         {"box AR", Alignment::right, report::Better::higher}},
                        {},
                        "The column of detections counts detections with any score."};
  if (masks != nullptr) classes.columns.push_back({"mask AP", Alignment::right, report::Better::higher});
  for (size_t i = 0; i < boxes.classes.size(); ++i) {
    const OverlapNumbers::ClassRow& row = boxes.classes[i];
    classes.rows.push_back({class_names.at(i), std::to_string(row.truths), std::to_string(row.detections),
                            number_cell(row.ap), number_cell(row.ap50), number_cell(row.ar)});
    if (masks != nullptr) classes.rows.back().push_back(number_cell(masks->classes.at(i).ap));
  }
  blocks.push_back(classes);

  for (const auto& [kind, of_kind] : {std::pair{"boxes", &boxes}, {"masks", masks}}) {
    if (of_kind == nullptr || of_kind->curves.empty() || of_kind->curves.front().empty()) continue;
    report::LineChart chart{std::string("Precision of ") + kind, "recall", "precision", {}, false, true};
    for (size_t c = 0; c < of_kind->curves.size(); ++c) {
      report::Series series{
          "overlap " + report::format_fixed(0.5 + 0.1 * static_cast<double>(c), 1), {}, of_kind->curves[c], {}};
      for (size_t i = 0; i < series.y.size(); ++i)
        series.x.push_back(static_cast<double>(i) / static_cast<double>(metrics::kRecallSteps - 1));
      chart.series.push_back(std::move(series));
    }
    chart.note = "Each curve is the mean over classes. The area below a curve is AP at the overlap of this curve.";
    blocks.push_back(chart);
  }

  std::vector<std::string> names = class_names;
  names.push_back("nothing");
  blocks.push_back(
      report::ConfusionMatrix{"Confusion of classes", names, evaluation.confusion,
                              "Each detection with a score of at least " + report::format_fixed(kShownScore, 1) +
                                  " is matched to the object, of any class, with the largest IoU of at least 0.5.",
                              "objects", /*ends_with_none=*/true});
  return blocks;
}

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
