#pragma once

#include <string_view>

namespace cachet::io {

/// The beginning of the text that Git LFS puts at the path of a file that was not downloaded.
inline constexpr std::string_view kGitLfsPointer = "version https://git-lfs.github.com/spec/";

/// The message about a Git LFS pointer. An error message begins with the name of the file, and kIsGitLfsPointer
/// follows.
inline constexpr const char* kIsGitLfsPointer =
    "is a Git LFS pointer, because the file itself was not downloaded; run `git lfs pull` in its repository";

}  // namespace cachet::io
