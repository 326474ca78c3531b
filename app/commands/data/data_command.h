#pragma once

#include <CLI/App.hpp>

#include "app/commands/command.h"

/// The subcommands of `cachet data`. Each is declared by a function like Command::declare.
namespace cachet::app {

Action declare_data_bench(CLI::App& app);
Action declare_data_list(CLI::App& app);
Action declare_data_listops(CLI::App& app);
Action declare_data_matching(CLI::App& app);
Action declare_data_shapes(CLI::App& app);
Action declare_data_pairs(CLI::App& app);
Action declare_data_shards(CLI::App& app);
Action declare_data_subwords(CLI::App& app);
Action declare_data_tokens(CLI::App& app);
Action declare_data_words(CLI::App& app);

}  // namespace cachet::app
