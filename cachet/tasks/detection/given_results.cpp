#include "cachet/tasks/detection/given_results.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace cachet::tasks {

std::optional<int64_t> number_in_name(const std::string& file) {
  constexpr int64_t kMaxNumber = int64_t{1} << 53;  // that every reader of JSON takes
  const std::string name = std::filesystem::path(file).stem().string();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || !std::ranges::all_of(name, is_digit)) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || number > kMaxNumber) return std::nullopt;
  return number;
}

GivenResults::GivenResults(std::vector<int64_t> category_ids, std::vector<std::string> class_names)
    : category_ids_(std::move(category_ids)), class_names_(std::move(class_names)) {}

void GivenResults::add(FoundObjects image) {
  const std::optional<int64_t> number = number_in_name(image.file);
  has_numbers_ = has_numbers_ && number;
  if (has_numbers_)
    numbers_.push_back(*number);
  else
    by_number_ = {};
  if (!image.problem.empty()) return;
  images_.push_back({image.index, image.file});
  image.image_id = image.index;
  add_results(by_index_, image, category_ids_, ResultForms::both);
  image.image_id = number;
  if (has_numbers_) add_results(by_number_, image, category_ids_, ResultForms::both);
}

std::vector<NamedFile> GivenResults::finish() && {
  std::ranges::sort(numbers_);
  const bool by_number = has_numbers_ && std::ranges::adjacent_find(numbers_) == numbers_.end();
  nlohmann::ordered_json images = nlohmann::ordered_json::array(), categories = nlohmann::ordered_json::array();
  for (const Image& image : images_)
    images.push_back({{"id", by_number ? *number_in_name(image.file) : image.index}, {"file_name", image.file}});
  for (size_t i = 0; i < class_names_.size(); ++i)
    categories.push_back({{"id", category_ids_.at(i)}, {"name", class_names_[i]}});
  const nlohmann::ordered_json list{{"images", std::move(images)}, {"categories", std::move(categories)}};
  return {{"results.json", std::move(by_number ? by_number_ : by_index_).finish()},
          {"images.json", list.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"}};
}

}  // namespace cachet::tasks
