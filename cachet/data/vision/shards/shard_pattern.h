#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// Expands the braces of a pattern: "a-{00..02}.tar" to a-00.tar, a-01.tar and a-02.tar, and "{a,b}.tar" to a.tar and
/// b.tar. The numbers of a range have the number of digits of its first number. Throws io::Error, which quotes the
/// pattern, for a brace without a counterpart, nested braces, an invalid range, and more than 100,000 names.
std::vector<std::string> expand_braces(std::string_view pattern);

/// Returns the names of the shards that a pattern selects, relative to `root`. First, braces are expanded. A name with
/// `*`, `?` or `[` then stands for the files that match it (config::glob_matches), sorted byte by byte, without
/// index files (.index). Any other name is that of a file. Throws io::Error if the pattern is absolute or contains
/// "..", if a named file does not exist, if no file matches, or if a shard is selected twice.
std::vector<std::string> find_shards(const std::filesystem::path& root, std::string_view pattern);

}  // namespace cachet::data
