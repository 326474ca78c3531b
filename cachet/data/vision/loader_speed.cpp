#include "cachet/data/vision/loader_speed.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

double rate_of(const ImageLoader& loader, double seconds, int64_t& epoch) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> start;
  for (int64_t images = 0;; ++epoch) {
    auto batches = loader.iterate(epoch);
    while (const auto batch = batches.next()) {
      const auto now = Clock::now();
      if (!start) {
        start = now;
        continue;
      }
      images += static_cast<int64_t>(batch->indices.size());
      const double passed = std::chrono::duration<double>(now - *start).count();
      if (passed < seconds) continue;
      if (images == 0) throw io::Error("the loader could read no image; repair the images");
      return static_cast<double>(images) / passed;
    }
  }
}

}  // namespace

std::vector<LoaderSpeed> measure_loader(const std::shared_ptr<const LabelledImages>& images,
                                        const ImageTransform& transform, const std::shared_ptr<const BatchOrder>& order,
                                        const LoaderSpeedOptions& options,
                                        const std::function<void(int64_t done)>& progress) {
  if (order->read_batches() < 1) throw std::invalid_argument("the data set must have at least one batch");
  const auto is_too_small = [](int64_t threads) { return threads < 1; };
  if (options.rounds < 1 || !(options.seconds > 0) || std::ranges::any_of(options.threads, is_too_small))
    throw std::invalid_argument("a measurement needs at least one round, one thread, and some time");
  std::vector<LoaderSpeed> speeds;
  std::vector<ImageLoader> loaders;
  for (const int64_t threads : options.threads) {
    speeds.push_back({threads});
    loaders.emplace_back(images, transform, order, LoaderOptions{.workers = threads}, options.bad_images);
  }
  int64_t epoch = 0, done = 0;
  for (int64_t round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < loaders.size(); ++i) {
      speeds[i].images_per_second.push_back(rate_of(loaders[i], options.seconds, epoch));
      ++epoch;
      if (progress) progress(++done);
    }
  }
  return speeds;
}

}  // namespace cachet::data
