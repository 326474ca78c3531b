#pragma once

#include <cstdint>
#include <filesystem>

namespace cachet::tasks {

/// How many records (abilities.h) a file holds, from index 0 on; a torn last line is cut off it. Throws
/// std::runtime_error for a file that holds something else.
int64_t resume_records(const std::filesystem::path& path);

}  // namespace cachet::tasks
