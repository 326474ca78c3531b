// COCO's twelve numbers of a file of results, timed:
//
//   coco_evaluation_benchmark INSTANCES.json RESULTS.json boxes|masks [THREADS]
//
// Prints a JSON object: seconds to read both files, seconds to match and sum up, the numbers.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <unordered_map>

#include "cachet/data/vision/coco/coco_instances.h"
#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/metrics/coco_evaluation.h"

namespace cachet {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(const char* instances_file, const char* results_file, metrics::OverlapKind kind, int threads) {
  const bool masks = kind == metrics::OverlapKind::masks;
  const auto start = std::chrono::steady_clock::now();
  const auto instances = data::CocoInstances::read(instances_file);
  std::unordered_map<int64_t, size_t> image_numbers;
  std::map<int64_t, int32_t> category_numbers;
  for (size_t i = 0; i < instances.images().size(); ++i) image_numbers[instances.images()[i].id] = i;
  for (const data::CocoCategory& category : instances.categories())
    category_numbers.emplace(category.id, static_cast<int32_t>(category_numbers.size()));
  std::vector<std::vector<metrics::DetectedObject>> detections(instances.images().size());
  data::read_coco_results(results_file, [&](data::CocoDetection detection) {
    metrics::DetectedObject seen{.category = category_numbers.at(detection.category_id), .score = detection.score};
    if (detection.box) seen.box = *detection.box;
    if (detection.mask && masks) seen.mask = *std::move(detection.mask);
    detections[image_numbers.at(detection.image_id)].push_back(std::move(seen));
  });
  const double reading = seconds_since(start);

  const auto begin = std::chrono::steady_clock::now();
  const auto objects_of = [&](int64_t i) {
    std::pair<int64_t, metrics::ImageObjects> image{instances.images()[static_cast<size_t>(i)].id, {}};
    for (const data::CocoAnnotation& annotation : instances.annotations(i)) {
      metrics::TrueObject truth{
          .category = annotation.category, .box = annotation.box, .area = annotation.area, .crowd = annotation.crowd};
      if (masks) truth.mask = instances.mask(annotation).value_or(geometry::RunLengths());
      image.second.truths.push_back(std::move(truth));
    }
    image.second.detections = std::move(detections[static_cast<size_t>(i)]);
    return image;
  };
  const auto verdicts =
      metrics::match_images(static_cast<int64_t>(instances.images().size()), objects_of, kind, threads);
  const auto result = metrics::summarize(verdicts, static_cast<int32_t>(instances.categories().size()), threads);
  std::printf("{\"reading\": %.4f, \"evaluation\": %.4f, \"numbers\": [", reading, seconds_since(begin));
  const char* separator = "";
  for (const double number : result.numbers.values()) {
    std::printf("%s%.17g", separator, number);
    separator = ", ";
  }
  std::printf("]}\n");
  return 0;
}

}  // namespace
}  // namespace cachet

int main(int argc, char** argv) {
  if (argc < 4 || (std::strcmp(argv[3], "boxes") != 0 && std::strcmp(argv[3], "masks") != 0)) {
    std::fprintf(stderr, "usage: %s INSTANCES.json RESULTS.json boxes|masks [THREADS]\n", argv[0]);
    return 2;
  }
  try {
    const auto kind =
        std::strcmp(argv[3], "masks") == 0 ? cachet::metrics::OverlapKind::masks : cachet::metrics::OverlapKind::boxes;
    return cachet::run(argv[1], argv[2], kind, argc > 4 ? std::atoi(argv[4]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
