#include "cachet/tasks/given_samples.h"

#include <exception>
#include <future>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::tasks {
namespace {

struct Batch {
  PreparedSamples samples;
  std::exception_ptr error;  // of the sample behind them
  bool last = false;
};

/// Reads samples in their order.
class Reader {
 public:
  Reader(AnswersGivenSamples& task, const NextSample& next, const SkipGiven& skip)
      : task_(task), next_(next), skip_(skip) {}

  Batch read(int64_t count) {
    Batch batch;
    try {
      while (std::ssize(batch.samples) < count) {
        const auto sample = next_();
        if (!sample) {
          batch.last = true;
          break;
        }
        const int64_t index = index_++;
        if (skip_(index, sample->text)) continue;
        batch.samples.push_back(prepare(*sample));
        batch.samples.back()->given = sample->text;
        batch.samples.back()->index = index;
      }
    } catch (...) {
      batch.error = std::current_exception();
    }
    return batch;
  }
  int64_t count() const { return index_; }

 private:
  std::unique_ptr<PreparedSample> prepare(const GivenSample& sample) {
    try {
      return task_.prepare_given(sample.text);
    } catch (const io::Error& problem) {
      if (sample.place.empty()) throw;
      throw io::Error(sample.place + ": " + problem.what());
    }
  }

  AnswersGivenSamples& task_;
  const NextSample& next_;
  const SkipGiven& skip_;
  int64_t index_ = 0;
};

}  // namespace

int64_t answer_all_given(AnswersGivenSamples& task, const NextSample& next, const GivenOptions& options,
                         const SkipGiven& skip, const UseAnswer& use) {
  Reader reader(task, next, skip);
  const auto read = [&] { return reader.read(options.batch); };
  const auto launch = options.batch > 1 ? std::launch::async : std::launch::deferred;
  std::future<Batch> ahead = std::async(launch, read);
  while (true) {
    const Batch batch = ahead.get();
    const bool ends = batch.last || batch.error;
    if (!ends) ahead = std::async(launch, read);
    if (!batch.samples.empty()) {
      const std::vector<Record> records = task.answer_given(batch.samples, options.answers);
      for (size_t i = 0; i < records.size(); ++i) use(*batch.samples[i], records[i]);
    }
    if (batch.error) std::rethrow_exception(batch.error);
    if (ends) return reader.count();
  }
}

}  // namespace cachet::tasks
