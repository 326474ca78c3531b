#include "cachet/tasks/detection/training_scenes.h"

#include <algorithm>

#include "cachet/tasks/detection/annotated_picture.h"
#include "cachet/tasks/samples/page_picture.h"

namespace cachet::tasks {
namespace {

constexpr size_t kMaxScenes = 8;
constexpr int64_t kSceneSide = 320;

std::vector<FoundObject> known_objects(const data::DetectionObjects& objects) {
  std::vector<FoundObject> known;
  for (size_t i = 0; i < objects.size(); ++i) {
    known.push_back({objects.labels[i], /*score=*/1, objects.boxes[i], std::nullopt});
    if (!objects.masks.empty()) known.back().mask = objects.masks[i];
  }
  return known;
}

}  // namespace

report::ImageGrid training_scenes(const data::DetectionLoader& loader, const data::Normalization& normalization,
                                  const std::vector<std::string>& class_names) {
  data::BatchPlace place = loader.place(/*epoch=*/0, /*number=*/0);
  const size_t all = place.samples.size();
  place.samples.resize(std::min(all, kMaxScenes));
  const data::DetectionBatch batch = loader.make(place);
  const AnnotationStyle style{.scores = false, .least_side = kSceneSide, .most_side = kSceneSide};
  report::ImageGrid grid{"Images of the first step", {}, "", report::PictureSize::scenes};
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    const data::DetectionSample& sample = batch.samples[i];
    // Without what the batch is filled up with.
    const at::Tensor image =
        batch.images[static_cast<int64_t>(i)].narrow(1, 0, sample.resized.height).narrow(2, 0, sample.resized.width);
    const at::Tensor picture = annotated_picture(data::pixels_of_normalized(image, normalization),
                                                 known_objects(sample.objects), class_names, style);
    std::string name = loader.set().image(sample.index).file_name;
    if (sample.mirrored) name += ", mirrored";
    grid.pictures.push_back({page_picture(picture, kSceneSide), name, name});
  }
  grid.note = std::to_string(grid.pictures.size()) + " of the " + std::to_string(all) +
              " images of the first batch, resized, cropped and mirrored as the model gets them, with the objects that "
              "the model has to find.";
  return grid;
}

}  // namespace cachet::tasks
