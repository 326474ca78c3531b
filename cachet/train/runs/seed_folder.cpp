#include "cachet/train/runs/seed_folder.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

#include "cachet/config/recipe_file.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"

namespace cachet::train {
namespace {

using SeedsJson = nlohmann::ordered_json;

constexpr const char* kSeedsName = "seeds.json";
constexpr size_t kMaxSeeds = 1000;

std::string seeds_to_json(const std::vector<uint64_t>& seeds) {
  return SeedsJson{{"schema", 1}, {"seeds", seeds}}.dump(2) + "\n";
}

std::vector<uint64_t> read_seeds(const std::filesystem::path& file) {
  const io::JsonFields json(io::read_text_file(file, 1 << 20), file.string());
  json.schema(1);
  std::vector<uint64_t> seeds = json.unsigned_integers("seeds", kGreatestSeed);
  if (seeds.empty()) json.fail("it names no seed");
  if (std::set<uint64_t>(seeds.begin(), seeds.end()).size() != seeds.size()) json.fail("it names a seed twice");
  return seeds;
}

std::optional<uint64_t> parse_seed(std::string_view text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size() || seed > kGreatestSeed) return std::nullopt;
  return seed;
}

}  // namespace

SeedFolder SeedFolder::create(const std::filesystem::path& path, const WrittenRecipe& recipe,
                              const config::Document& document, const std::vector<std::string>& command,
                              const std::vector<uint64_t>& seeds, LatestLink latest) {
  RunFolder shared = RunFolder::create(path, recipe, document, command, {{kSeedsName, seeds_to_json(seeds)}}, latest);
  shared.let_go();
  return {std::move(shared), seeds};
}

SeedFolder SeedFolder::resume(const std::filesystem::path& path, const config::Document& document,
                              const std::vector<std::string>& command, const std::vector<uint64_t>& seeds) {
  RunFolder shared = RunFolder::resume(path, document, command, WhenInUse::wait);
  shared.keep_changes();  // the run of each seed compares its data itself
  SeedFolder folder(std::move(shared), read_seeds(path / kSeedsName));
  const size_t before = folder.seeds_.size();
  for (const uint64_t seed : seeds)
    if (std::ranges::find(folder.seeds_, seed) == folder.seeds_.end()) folder.seeds_.push_back(seed);
  if (folder.seeds_.size() > before) io::write_file_atomically(path / kSeedsName, seeds_to_json(folder.seeds_));
  folder.shared_.let_go();
  return folder;
}

SeedFolder SeedFolder::open(const std::filesystem::path& path) {
  return {RunFolder::open(path), read_seeds(path / kSeedsName)};
}

WrittenRecipe SeedFolder::written_recipe() const {
  if (auto text = shared_.recipe_text()) return {shared_.recipe_name(), std::move(*text)};
  return {shared_.recipe_name(), io::read_text_file(shared_.resolved(), config::kMaxRecipeBytes)};
}

bool SeedFolder::is_at(const std::filesystem::path& path) {
  std::error_code unreadable;
  return std::filesystem::exists(path / kSeedsName, unreadable);
}

std::optional<std::vector<uint64_t>> seeds_from_text(const std::string& text, uint64_t first) {
  std::vector<uint64_t> seeds;
  if (text.find(',') == std::string::npos) {
    const auto count = parse_seed(text);
    if (!count || *count == 0 || *count > kMaxSeeds || first > kGreatestSeed - *count) return std::nullopt;
    for (uint64_t i = 0; i < *count; ++i) seeds.push_back(first + i);
    return seeds;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto seed = parse_seed(std::string_view(text).substr(begin, end - begin));
    if (!seed) return std::nullopt;
    seeds.push_back(*seed);
    begin = end + 1;
  }
  const bool distinct = std::set<uint64_t>(seeds.begin(), seeds.end()).size() == seeds.size();
  return distinct && seeds.size() <= kMaxSeeds ? std::optional(seeds) : std::nullopt;
}

}  // namespace cachet::train
