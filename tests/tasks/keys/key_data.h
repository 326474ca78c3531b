#pragma once

#include <filesystem>

namespace cachet::test {

// Data of a few samples for each kind of recipe that is tried: written to a folder that exists.

void write_images_of_each_kind(const std::filesystem::path& folder);
void write_sequences(const std::filesystem::path& folder);
void write_corpus(const std::filesystem::path& folder);
void write_pairs(const std::filesystem::path& folder);

}  // namespace cachet::test
