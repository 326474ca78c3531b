#pragma once

#include <string>
#include <vector>

#include "cachet/tasks/abilities.h"
#include "cachet/tasks/samples/given_samples.h"

namespace cachet::app {

/// Returns the samples of a command line. A folder represents the images at any depth in it, ordered by name. Messages
/// name an image by its file, a text by its beginning. Throws io::Error for a folder without images.
tasks::NextSample samples_of_arguments(const std::vector<std::string>& words, tasks::SampleForm form);

/// Returns the lines of a file, or of standard input for "-". Each line is returned as soon as it is complete. Throws
/// io::Error if the file cannot be read or a line has more than 16 MiB.
tasks::NextSample samples_of_lines(const std::string& file);

/// Whether `file` is a pipe or a terminal, whose writer waits for the answer to each line.
bool comes_line_by_line(const std::string& file);

}  // namespace cachet::app
