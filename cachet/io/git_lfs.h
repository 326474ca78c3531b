#pragma once

#include <string_view>

namespace cachet::io {

/// How the text begins that Git LFS leaves in the place of a file that was not downloaded.
inline constexpr std::string_view kGitLfsPointer = "version https://git-lfs.github.com/spec/";

/// What is said of such a file, after its name.
inline constexpr const char* kIsGitLfsPointer =
    "is a Git LFS pointer, a text in the place of the file, which was not downloaded; run `git lfs pull` in its "
    "repository";

}  // namespace cachet::io
