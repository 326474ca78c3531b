#pragma once

#include <string_view>

namespace cachet::report {

/// Is the descriptor a terminal, of whatever kind?
bool is_terminal(int descriptor) noexcept;

/// Is it one that understands cursor movements (TERM is set and not "dumb")?
bool moves_cursor(int descriptor) noexcept;

/// The present number of columns, read anew each time; 80 if the terminal does not report it.
int terminal_columns(int descriptor) noexcept;

/// Columns that text is to fit into: those that the variable COLUMNS asks for, else the terminal's.
int text_columns(int descriptor) noexcept;

/// May this process write there? A job in the background must not scribble over the shell.
bool is_foreground(int descriptor) noexcept;

/// Does the locale of the environment (LC_ALL, LC_CTYPE, LANG) encode text as UTF-8?
bool has_utf8_locale() noexcept;

/// May text there be more than ASCII? Everywhere but on a terminal whose locale is not UTF-8.
bool takes_unicode(int descriptor) noexcept;

/// Writes all of it. False where the other end is gone; SIGPIPE is not raised.
bool write_fully(int descriptor, std::string_view text) noexcept;

}  // namespace cachet::report
