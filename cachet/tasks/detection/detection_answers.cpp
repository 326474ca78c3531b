// What a detector answers to images, and the files of results made of its answers.
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "cachet/data/data_digest.h"
#include "cachet/io/tensors/image.h"
#include "cachet/io/tensors/png.h"
#include "cachet/tasks/detection/annotated_picture.h"
#include "cachet/tasks/detection/detection.h"
#include "cachet/tasks/detection/given_results.h"

namespace cachet::tasks {
namespace {

struct PreparedPicture : PreparedSample {
  at::Tensor pixels;  // upright if data.orientation asks for it
  data::DetectionSample image;
};

}  // namespace

std::unique_ptr<PreparedSample> Detection::prepare_given(const std::string& file) {
  io::ImageReadOptions read;
  read.channels = io::ImageChannels::rgb;
  read.orientation = options_.orientation;
  auto prepared = std::make_unique<PreparedPicture>();
  read.see_bytes = [&](std::span<const std::byte> bytes) { prepared->digest = data::digest_of(bytes); };
  const io::DecodedImage image = io::read_image(file, read);
  given_notes_.add(file, image, options_.orientation);
  prepared->pixels = image.pixels;
  prepared->image = plain_->apply(prepared->pixels, {}, plain_->draw({}));
  return prepared;
}

std::vector<Record> Detection::answer_given(const PreparedSamples& samples, const AnswerOptions&) {
  const at::NoGradGuard no_grad;
  std::vector<Record> records;
  // One by one: in a batch with a larger image a smaller one is filled up, and positions are interpolated to other
  // sizes.
  for (const auto& sample : samples) {
    const auto found =
        detect(data::collate({dynamic_cast<const PreparedPicture&>(*sample).image}, options_.transform.multiple));
    records.push_back(to_json_line({sample->index, std::nullopt, sample->given, found.at(0), {}}, class_names_));
  }
  return records;
}

void Detection::answer_evaluation(int64_t first, const AnswerOptions&, const SeenRecord& seen) {
  if (first >= validation_->size()) return;
  const at::NoGradGuard no_grad;
  // A batch has images of one size, and so leaves out images between them: their records wait for theirs.
  std::map<int64_t, Record> waiting;
  int64_t next = first / window() * window();
  auto batches = validation_loader_->iterate(/*epoch=*/0, first_batch_of_window(first));
  while (auto batch = batches.next()) {
    std::vector<std::vector<FoundObject>> found = detect(*batch);
    const auto record = [&](int64_t index, std::vector<FoundObject> objects, const std::string& problem) {
      const FoundObjects all{index, validation_->image(index).id, {}, std::move(objects), problem};
      waiting.emplace(index, to_json_line(all, class_names_));
    };
    for (size_t i = 0; i < batch->samples.size(); ++i) record(batch->samples[i].index, std::move(found[i]), {});
    for (const auto& [index, problem] : batch->skipped) record(index, {}, problem);
    for (; !waiting.empty() && waiting.begin()->first == next; ++next) {
      if (next >= first) seen(waiting.begin()->second);
      waiting.erase(waiting.begin());
    }
  }
}

std::string Detection::picture_of_answer(const PreparedSample& sample, const Record& record, double least_score) {
  const auto png = io::encode_png(annotated_picture(dynamic_cast<const PreparedPicture&>(sample).pixels,
                                                    read_found_objects(record, options_.classes).objects, class_names_,
                                                    {.least_score = least_score}));
  return {reinterpret_cast<const char*>(png.data()), png.size()};
}

// Those of the file at hand, or those that the run saved, or numbers of classes from 1.
std::vector<int64_t> Detection::category_ids() const {
  if (validation_) {
    std::vector<int64_t> ids = validation_->category_ids();
    const std::vector<int64_t> used = ids;
    int64_t free = *std::ranges::max_element(used);
    for (const int64_t own : options_.category_ids) free = std::max(free, own);
    for (size_t i = 0; i < ids.size(); ++i) {  // of classes that the file lacks
      if (ids[i] >= 0) continue;
      const bool has_own = !options_.category_ids.empty() && std::ranges::count(used, options_.category_ids[i]) == 0;
      ids[i] = has_own ? options_.category_ids[i] : ++free;
    }
    return ids;
  }
  if (!options_.category_ids.empty()) return options_.category_ids;
  std::vector<int64_t> ids(class_names_.size());
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

std::vector<NamedFile> Detection::results_of_given(const NextRecord& next) {
  GivenResults results(category_ids(), class_names_);
  while (const auto record = next()) results.add(read_found_objects(*record, options_.classes));
  return std::move(results).finish();
}

std::vector<NamedFile> Detection::results_of_evaluation(const NextRecord& next) {
  data::CocoResultsText boxes, masks;
  while (const auto record = next()) {
    const FoundObjects found = read_found_objects(*record, options_.classes);
    add_results(boxes, found, category_ids(), ResultForms::boxes);
    if (options_.model.masks) add_results(masks, found, category_ids(), ResultForms::masks);
  }
  std::vector<NamedFile> files{{"bbox.json", std::move(boxes).finish()}};
  if (options_.model.masks) files.push_back({"segm.json", std::move(masks).finish()});
  return files;
}

}  // namespace cachet::tasks
