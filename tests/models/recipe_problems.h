#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cachet/models/registry.h"

namespace cachet::test {

/// Reads each text as a recipe's `[model]` table, which must be refused with a message that holds the other text.
inline void expect_model_problems(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [toml, text] : cases) {
    auto document = config::Document::from_text("[model]\n" + toml + "\n", "r.toml");
    try {
      models::read_image_classifier(document.root().table("model"));
      document.finish();
      ADD_FAILURE() << "accepted: " << toml;
    } catch (const config::Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
}

}  // namespace cachet::test
