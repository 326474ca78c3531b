#pragma once

#include <archive.h>
#include <archive_entry.h>

namespace cachet::io {

/// The functions of libarchive that Cachet calls. The library is not linked, because it would bring libxml2 and ICU
/// into the wheel.
struct Libarchive {
  decltype(&::archive_read_new) read_new = nullptr;
  decltype(&::archive_read_support_format_tar) read_support_format_tar = nullptr;
  decltype(&::archive_read_open2) read_open2 = nullptr;
  decltype(&::archive_read_next_header) read_next_header = nullptr;
  decltype(&::archive_read_free) read_free = nullptr;
  decltype(&::archive_filter_bytes) filter_bytes = nullptr;
  decltype(&::archive_error_string) error_string = nullptr;
  decltype(&::archive_entry_pathname) entry_pathname = nullptr;
  decltype(&::archive_entry_pathname_utf8) entry_pathname_utf8 = nullptr;
  decltype(&::archive_entry_hardlink) entry_hardlink = nullptr;
  decltype(&::archive_entry_filetype) entry_filetype = nullptr;
  decltype(&::archive_entry_size) entry_size = nullptr;
  decltype(&::archive_entry_sparse_count) entry_sparse_count = nullptr;
};

/// Loads libarchive at the first call. Throws Error, which names the package to install, if the library cannot be
/// loaded.
const Libarchive& libarchive();

}  // namespace cachet::io
