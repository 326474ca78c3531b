#include "cachet/tasks/samples/given_samples.h"

#include <exception>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::tasks {
namespace {

struct Batch {
  PreparedSamples samples;
  std::exception_ptr error;  // of the sample after them
  bool last = false;
};

/// Reads samples in their order.
class Reader {
 public:
  Reader(Predictor& task, const NextSample& next, const SkipGiven& skip, UnreadableSamples unreadable)
      : task_(task), next_(next), skip_(skip), unreadable_(unreadable) {}

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
      const std::string message = (sample.place.empty() ? "" : sample.place + ": ") + problem.what();
      if (unreadable_ == UnreadableSamples::end) throw io::Error(message);
      auto unreadable = std::make_unique<UnreadableSample>();
      unreadable->problem = message;
      return unreadable;
    }
  }

  Predictor& task_;
  const NextSample& next_;
  const SkipGiven& skip_;
  UnreadableSamples unreadable_;
  int64_t index_ = 0;
};

Record record_of(const UnreadableSample& sample, SampleForm form) {
  const nlohmann::ordered_json json{{"index", sample.index},
                                    {form == SampleForm::image_file ? "file" : "text", sample.given},
                                    {"error", sample.problem}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Records of all samples, in their order; the task sees those that could be read.
void answer(Predictor& task, PreparedSamples samples, const AnswerOptions& options, const UseAnswer& use) {
  PreparedSamples readable;
  std::vector<std::unique_ptr<UnreadableSample>> unreadable;  // instead of those, or nothing
  for (auto& sample : samples) {
    auto* problem = dynamic_cast<UnreadableSample*>(sample.get());
    unreadable.emplace_back(problem);
    if (problem != nullptr)
      static_cast<void>(sample.release());
    else
      readable.push_back(std::move(sample));
  }
  const std::vector<Record> records = readable.empty() ? std::vector<Record>() : task.answer_given(readable, options);
  size_t next = 0;
  for (const auto& problem : unreadable) {
    if (problem) {
      use(*problem, record_of(*problem, task.sample_form()));
    } else {
      use(*readable[next], records[next]);
      ++next;
    }
  }
}

}  // namespace

int64_t answer_all_given(Predictor& task, const NextSample& next, const GivenOptions& options, const SkipGiven& skip,
                         const UseAnswer& use) {
  Reader reader(task, next, skip, options.unreadable);
  const auto read = [&] { return reader.read(options.batch); };
  const auto launch = options.batch > 1 ? std::launch::async : std::launch::deferred;
  std::future<Batch> ahead = std::async(launch, read);
  while (true) {
    Batch batch = ahead.get();
    const bool ends = batch.last || batch.error;
    if (!ends) ahead = std::async(launch, read);
    if (!batch.samples.empty()) answer(task, std::move(batch.samples), options.answers, use);
    if (batch.error) std::rethrow_exception(batch.error);
    if (ends) return reader.count();
  }
}

}  // namespace cachet::tasks
