#pragma once

#include <string_view>

namespace cachet::report {

/// Whether the descriptor is a terminal of any kind.
bool is_terminal(int descriptor) noexcept;

/// Whether the descriptor is a terminal that understands cursor movements (TERM is set and not "dumb").
bool moves_cursor(int descriptor) noexcept;

/// Returns the current number of columns, or 80 if the terminal does not report it.
int terminal_columns(int descriptor) noexcept;

/// Returns the number of columns into which text should fit: the variable COLUMNS, or else the terminal's columns.
int text_columns(int descriptor) noexcept;

/// Whether this process may write to the terminal. A process in the background of a shell must not write into the
/// shell's output.
bool is_foreground(int descriptor) noexcept;

/// Whether the locale of the environment (LC_ALL, LC_CTYPE, LANG) encodes text as UTF-8.
bool has_utf8_locale() noexcept;

/// Whether text for the descriptor may have characters beyond ASCII. Returns false only if the descriptor is a terminal
/// whose locale is not UTF-8.
bool takes_unicode(int descriptor) noexcept;

/// Writes the whole text. If the reader of a pipe has closed it, returns false and does not raise SIGPIPE.
bool write_fully(int descriptor, std::string_view text) noexcept;

}  // namespace cachet::report
