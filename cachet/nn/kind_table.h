#pragma once

#include <deque>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::nn {

/// One row of a KindTable, which describes one kind of a family (norms, caches or attention functions). `Options`: the
/// std::variant of the options of all kinds in the family.
template <class Options, class... Arguments>
struct KindRow {
  std::string name;                                                                // name in recipes
  std::function<Options(const config::View& table, Arguments... arguments)> read;  // reads the kind's keys
};

/// The kinds of a family of plug-ins, such as the norms: first the library's kinds (the alternatives of `Options` with
/// a record `kKind`), then the kinds that a program registered. A recipe table without `kind` selects the first kind.
template <class Options, class... Arguments>
class KindTable {
 public:
  using Row = KindRow<Options, Arguments...>;

  KindTable() {
    [this]<size_t... index>(std::index_sequence<index...>) {
      (add_alternative<std::variant_alternative_t<index, Options>>(), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Options>>());
  }

  std::span<const Row* const> rows() const { return rows_; }

  Options read(const config::View& table, Arguments... arguments) const {
    return table.record("kind", rows_.front(), rows())->read(table, arguments...);
  }

  /// Adds a kind. `family`: the name of the family, such as "norm". Throws std::invalid_argument if a kind with this
  /// name already exists.
  void add(const char* family, Row row) {
    for (const Row* other : rows_)
      if (other->name == row.name)
        throw std::invalid_argument(std::string("there is already a kind of ") + family + " \"" + row.name + "\"");
    rows_.push_back(&storage_.emplace_back(std::move(row)));
  }

 private:
  template <class Alternative>
  void add_alternative() {
    if constexpr (requires { Alternative::kKind; })
      rows_.push_back(&storage_.emplace_back(
          Row{std::string(Alternative::kKind.name), [](const config::View& table, Arguments... arguments) -> Options {
                return Alternative::kKind.read(table, arguments...);
              }}));
  }

  std::deque<Row> storage_;  // a deque, so that the addresses of the rows do not change
  std::vector<const Row*> rows_;
};

}  // namespace cachet::nn
