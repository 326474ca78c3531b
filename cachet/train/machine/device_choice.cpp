#include "cachet/train/machine/device_choice.h"

#include <charconv>

namespace cachet::train {

std::optional<DeviceChoice> parse_device(std::string_view word) {
  if (word == "auto") return DeviceChoice{};
  if (word == "cpu") return DeviceChoice{DeviceChoice::Kind::cpu};
  if (word == "cuda") return DeviceChoice{DeviceChoice::Kind::cuda};
  constexpr std::string_view kNumbered = "cuda:";
  if (!word.starts_with(kNumbered)) return std::nullopt;
  word.remove_prefix(kNumbered.size());
  int8_t index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error != std::errc() || end != word.data() + word.size() || index < 0) return std::nullopt;
  return DeviceChoice{DeviceChoice::Kind::cuda, index};
}

DeviceChoice read_device(const config::View& view, std::string_view key) {
  const std::string word = view.text(key, "auto");
  const std::optional<DeviceChoice> choice = parse_device(word);
  if (!choice) view.problem(key, "must be a device: \"auto\", \"cpu\", \"cuda\" or, for example, \"cuda:1\"");
  return choice.value_or(DeviceChoice{});
}

DeviceChoice device_of(const std::map<std::string, std::string>& recipe) {
  const auto found = recipe.find("train.device");
  if (found == recipe.end() || found->second.size() < 2) return {};
  return parse_device(std::string_view(found->second).substr(1, found->second.size() - 2)).value_or(DeviceChoice());
}

}  // namespace cachet::train
