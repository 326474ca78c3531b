#include "tests/tasks/keys/trial.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>

#include "cachet/analysis/cost/meta_model.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/support/temporary_directory.h"

namespace cachet::test {
namespace {

constexpr size_t kLongestLine = 500;
constexpr std::ptrdiff_t kMaxLines = 20;  // a problem each

// Messages that only a library has.
constexpr std::array<std::string_view, 22> kWordsOfLibraries{"[enforce fail",
                                                             "Expected ",
                                                             "expected input",
                                                             "cannot reshape",
                                                             "shape '[",
                                                             "view size",
                                                             "basic_string",
                                                             "vector::",
                                                             "std::",
                                                             "c10",
                                                             "at::",
                                                             "aten::",
                                                             "ATen",
                                                             "TORCH_",
                                                             "INTERNAL ASSERT",
                                                             "filesystem error",
                                                             "cannot create std",
                                                             "invalid_argument",
                                                             "Resource temporarily",
                                                             "map::at",
                                                             "stoi",
                                                             "stol"};

bool is_of_memory(const std::string& message) {
  return message.find("allocate memory") != std::string::npos ||
         message.find("not enough memory") != std::string::npos || message.find("out of memory") != std::string::npos;
}

/// "done", or the message of the command after the kind of exception that it came by.
std::string told(const std::function<void()>& work) {
  try {
    work();
    return "done";
  } catch (const std::bad_alloc&) {
    return "memory out of memory";
  } catch (const c10::Error& error) {
    const std::string message = train::error_message(error);
    return (is_of_memory(message) ? "memory " : "refused ") + message;
  } catch (const std::length_error& error) {
    return std::string("failed length_error: ") + error.what();
  } catch (const std::logic_error& error) {
    // Constructors refuse arguments in sentences of their own.
    const bool of_arguments = dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
    return (of_arguments ? "refused " : "failed ") + std::string(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return "refused " + train::error_message(error);
  } catch (const std::exception& error) {
    return std::string("refused ") + error.what();
  }
}

Trial trial_of(const ChildOutcome& outcome) {
  using End = Trial::End;
  switch (outcome.end) {
    case ChildOutcome::End::too_large:
      return {End::too_large, "took more than its memory"};
    case ChildOutcome::End::too_slow:
      return {End::too_slow, "took more than its time"};
    case ChildOutcome::End::crashed:
      return {End::crashed, outcome.ending + "; it wrote: " + outcome.printed};
    case ChildOutcome::End::done:
      break;
  }
  const size_t blank = outcome.text.find(' ');
  const std::string word = outcome.text.substr(0, blank),
                    message = blank == std::string::npos ? "" : outcome.text.substr(blank + 1);
  if (word == "done") return {End::done, ""};
  if (word == "memory") return {End::too_large, message};
  return {word == "refused" ? End::refused : End::failed, message};
}

/// Whether a message has a name that is not a part of a longer one. The end of a sentence may follow it.
bool has_whole(const std::string& message, const std::string& name) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789_";
  const auto of_name = [&](size_t place) {
    return place < message.size() && kOfNames.find(message[place]) != std::string_view::npos;
  };
  for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool continues = of_name(end) || (end < message.size() && message[end] == '.' && of_name(end + 1));
    const bool begins = at == 0 || (!of_name(at - 1) && message[at - 1] != '.');
    if (begins && !continues) return true;
  }
  return false;
}

/// Whether a message names a key: by its path, or by its name alone next to the path of another key of its table, as in
/// "model.pooling: 'token' needs class_token = true".
bool names(const std::string& message, const std::string& path) {
  if (has_whole(message, path)) return true;
  const size_t dot = path.rfind('.');
  return message.find(path.substr(0, dot + 1)) != std::string::npos && has_whole(message, path.substr(dot + 1));
}

}  // namespace

const char* to_string(Trial::End end) {
  switch (end) {
    case Trial::End::done:
      return "done";
    case Trial::End::refused:
      return "refused";
    case Trial::End::failed:
      return "failed";
    case Trial::End::crashed:
      return "crashed";
    case Trial::End::too_large:
      return "too large";
    case Trial::End::too_slow:
      return "too slow";
  }
  return "";
}

Trial train_a_step(const KeyFamily& family, const Settings& settings) {
  data_of(family);
  const TemporaryDirectory folder;
  return trial_of(in_child([&] {
    return told([&] {
      config::Document document = document_of(family, settings);
      const tasks::RecipePlan plan = tasks::read_recipe(document);
      const auto task = plan.build();
      train::RunFolder run =
          train::RunFolder::create(folder / "run", {family.name, family.recipe}, document, {"cachet", "train"});
      const train::Outcome outcome = train::Trainer(*task, plan.training, run, nullptr).run();
      if (outcome.ending == train::StopReason::not_finite) throw std::runtime_error(outcome.message);
    });
  }));
}

Trial build_shapes(const KeyFamily& family, const Settings& settings) {
  data_of(family);
  return trial_of(in_child([&] {
    return told([&] {
      config::Document document = document_of(family, settings);
      analysis::build_on_meta(tasks::read_recipe(document).model());
    });
  }));
}

std::string fault_of(const Trial& trial, const KnownKey& key, const std::string& value) {
  const std::string said = std::string(to_string(trial.end)) + ": " + trial.message;
  if (trial.end == Trial::End::done) return "";
  if (trial.end != Trial::End::refused) return said;
  for (const std::string_view word : kWordsOfLibraries)
    if (trial.message.find(word) != std::string::npos) return "a library's words: " + said;
  if (trial.message.size() > kLongestLine * kMaxLines + value.size() ||
      std::ranges::count(trial.message, '\n') >= kMaxLines)
    return "a long message: " + said;
  if (!names(trial.message, key.path)) return "the key is not named: " + said;
  return "";
}

}  // namespace cachet::test
