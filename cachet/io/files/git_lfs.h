#pragma once

#include <string_view>

namespace cachet::io {

/// The beginning of the text that Git LFS puts at the path of a file that was not downloaded.
inline constexpr std::string_view kGitLfsPointer = "version https://git-lfs.github.com/spec/";

/// The end of the error message for a file that is only a Git LFS pointer. In the message, the name of the file comes
/// before kIsGitLfsPointer.
inline constexpr const char* kIsGitLfsPointer =
    "is a Git LFS pointer, because the file itself was not downloaded; run `git lfs pull` in its repository";

}  // namespace cachet::io
