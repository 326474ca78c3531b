#include "cachet/io/archives/libarchive.h"

#include <dlfcn.h>

#include <string>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

constexpr const char* kLibraryFile = "libarchive.so.13";  // of all versions 3

[[noreturn]] void fail_loading() {
  const char* reason = dlerror();
  throw Error("tar shards are read with libarchive, which cannot be loaded (" +
              std::string(reason == nullptr ? kLibraryFile : reason) + "); install the package libarchive13");
}

Libarchive loaded() {
  void* library = dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail_loading();
  Libarchive functions;
  const auto load = [library]<class Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) fail_loading();
  };
  load(functions.read_new, "archive_read_new");
  load(functions.read_support_format_tar, "archive_read_support_format_tar");
  load(functions.read_open2, "archive_read_open2");
  load(functions.read_next_header, "archive_read_next_header");
  load(functions.read_free, "archive_read_free");
  load(functions.filter_bytes, "archive_filter_bytes");
  load(functions.error_string, "archive_error_string");
  load(functions.entry_pathname, "archive_entry_pathname");
  load(functions.entry_pathname_utf8, "archive_entry_pathname_utf8");
  load(functions.entry_hardlink, "archive_entry_hardlink");
  load(functions.entry_filetype, "archive_entry_filetype");
  load(functions.entry_size, "archive_entry_size");
  load(functions.entry_sparse_count, "archive_entry_sparse_count");
  return functions;
}

}  // namespace

const Libarchive& libarchive() {
  static const Libarchive functions = loaded();
  return functions;
}

}  // namespace cachet::io
