#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/nn/cache/cache_options.h"

namespace cachet::test {

/// Every kind of cache of the library with its defaults, under the name of a recipe, and special cases.
inline std::vector<std::pair<std::string, nn::CacheOptions>> all_caches() {
  std::vector<std::pair<std::string, nn::CacheOptions>> all{
      {"grc, official", nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official)},
      {"fifo, short", nn::FifoCacheOptions{.length = 5}}};
  auto nothing_written = config::Document::from_text("", "defaults");
  for (const nn::CacheRow* row : nn::cache_kinds()) {
    const nn::CacheOptions defaults = row->read(nothing_written.root(), nn::Sessions::none);
    if (!std::holds_alternative<nn::ChosenCache>(defaults)) all.emplace_back(row->name, defaults);  // not a test's own
  }
  return all;
}

}  // namespace cachet::test
