// Decodes and augments JPEG files on one core, once for each line that it reads from standard input, and prints the
// seconds. image_loading.py starts it and does the same in Python.
//   image_loading_benchmark FOLDER [SIZE]
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/image_transform.h"

namespace {

namespace fs = std::filesystem;
using namespace cachet;

data::ImageFiles images_of(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path().filename().string());
  std::ranges::sort(files);
  return {folder, std::move(files)};
}

void load_all(const data::ImageFiles& images, const data::ImageTransform& transform, uint64_t epoch) {
  const data::ImageShape shape = transform.sample_shape();
  at::Tensor out = at::empty({shape.channels, shape.height, shape.width}, at::kFloat);
  for (int64_t i = 0; i < images.size(); ++i) {
    transform.apply(images, i, {1, epoch, static_cast<uint64_t>(i)}, out.mutable_data_ptr<float>());
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: image_loading_benchmark FOLDER [SIZE] < lines\n";
    return 2;
  }
  at::set_num_threads(1);
  const data::ImageFiles images = images_of(arguments[1]);
  const data::ImageTransform transform(images.shape(), *data::Normalization::known(data::kClassFolders),
                                       {.flip = 0.5, .crop = data::CropKind::resized},
                                       {.image_size = count > 2 ? std::atoi(arguments[2]) : 224});
  uint64_t epoch = 0;
  for (std::string line; std::getline(std::cin, line); ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    load_all(images, transform, epoch);
    std::cout << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << std::endl;
  }
}
