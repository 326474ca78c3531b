#include "cachet/tasks/image_classification/image_statistics.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/parse_json.h"

namespace cachet::tasks {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxStatisticsBytes = 1 << 16;
constexpr int64_t kMaxSide = 65536;
constexpr size_t kMaxChannels = 64;

int64_t side_in(const Json& json, const char* key) {
  const auto side = json.at(key).get<int64_t>();
  if (side < 1 || side > kMaxSide) throw std::out_of_range(std::string(key) + " is out of range");
  return side;
}

std::vector<double> channels_in(const Json& json, const char* key, const config::Range<double>& range) {
  if (!json.contains(key)) return {};
  auto values = json.at(key).get<std::vector<double>>();
  if (values.size() > kMaxChannels) throw std::out_of_range(std::string(key) + " has too many values");
  for (const double value : values)
    if (!(value >= range.least && value <= range.most)) throw std::out_of_range(std::string(key) + " is out of range");
  return values;
}

}  // namespace

std::string to_json(const ImageStatistics& statistics) {
  Json json = Json::object();
  if (!statistics.normalization.mean.empty()) {
    json["mean"] = statistics.normalization.mean;
    json["std"] = statistics.normalization.std;
  }
  json["height"] = statistics.size.height;
  json["width"] = statistics.size.width;
  return json.dump() + "\n";
}

ImageStatistics read_image_statistics(const std::filesystem::path& file) {
  const std::string text = io::read_text_file(file, kMaxStatisticsBytes);
  try {
    const Json json = io::parse_json<Json>(text);
    ImageStatistics statistics;
    statistics.normalization.mean = channels_in(json, "mean", data::kChannelMeans);
    statistics.normalization.std = channels_in(json, "std", data::kChannelDeviations);
    if (statistics.normalization.mean.size() != statistics.normalization.std.size())
      throw std::out_of_range("mean and std have different numbers of values");
    statistics.size = {side_in(json, "height"), side_in(json, "width")};
    return statistics;
  } catch (const std::exception& error) {
    throw io::Error(file.string() + ": is damaged (" + error.what() +
                    "); the file must have mean, std, height and width of the training images");
  }
}

}  // namespace cachet::tasks
