#pragma once

namespace cachet::app {

/// Counts the models of the paper's tables and prints them beside what was published, as a table or a JSON object.
void show_published_counts(bool json, bool wide);

}  // namespace cachet::app
