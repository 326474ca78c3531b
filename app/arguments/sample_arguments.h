#pragma once

#include <string>
#include <vector>

#include "cachet/tasks/abilities.h"
#include "cachet/tasks/samples/given_samples.h"

namespace cachet::app {

/// Samples that stand on the command line; a folder stands for the images below it, in the order of their names. An
/// image's file names itself in messages, of a text its beginning does. Throws io::Error for a folder without images.
tasks::NextSample samples_of_arguments(const std::vector<std::string>& words, tasks::SampleForm form);

/// The lines of a file, or of standard input where it is "-": each is given as soon as it is there. Throws io::Error
/// where it cannot be read, and for lines of more than 16 MiB.
tasks::NextSample samples_of_lines(const std::string& file);

/// Whether such a file is a pipe or a terminal: whoever writes lines there waits for the answer to each.
bool comes_line_by_line(const std::string& file);

}  // namespace cachet::app
