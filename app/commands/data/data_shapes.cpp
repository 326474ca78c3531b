#include <algorithm>
#include <iostream>
#include <memory>
#include <thread>

#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/commands/data/data_command.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/data/vision/coco/shape_folder.h"
#include "cachet/report/program_name.h"
#include "cachet/report/text/text_table.h"
#include "cachet/train/machine/interruption.h"

namespace cachet::app {
namespace {

struct ShapeArguments {
  std::string folder, format = "png", progress = "auto";
  data::ShapeOptions options;
  bool json = false;
};

/// Leaves the painter when the user asks for it.
struct ShapesInterrupted {};

data::ShapeCounts paint_shapes(const ShapeArguments& arguments) {
  const train::Interruption interruption;
  CountedProgress progress("shapes", arguments.progress, {.from_the_start = true});
  const int64_t all = arguments.options.train + arguments.options.validation;
  return data::write_shape_folder(arguments.folder, arguments.options, [&](int64_t done) {
    if (interruption.requested()) throw ShapesInterrupted();
    progress.show(done, all);
  });
}

nlohmann::ordered_json to_json(const ShapeArguments& arguments, const data::ShapeCounts& counts) {
  nlohmann::ordered_json objects;
  for (size_t i = 0; i < counts.objects.size(); ++i) objects[std::string(data::kShapeNames[i])] = counts.objects[i];
  return {{"schema", kSchema},
          {"folder", arguments.folder},
          {"train", arguments.options.train},
          {"validation", arguments.options.validation},
          {"height", arguments.options.height},
          {"width", arguments.options.width},
          {"seed", arguments.options.seed},
          {"objects", objects},
          {"crowds", counts.crowds}};
}

void print_counts(const data::ShapeCounts& counts) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"class"}, {"objects", Alignment::right}};
  for (size_t i = 0; i < counts.objects.size(); ++i)
    table.rows.push_back({std::string(data::kShapeNames[i]), std::to_string(counts.objects[i])});
  table.rows.push_back({"(crowds)", std::to_string(counts.crowds)});
  std::cout << report::text_table(table, printed_form(/*wide=*/false)) << '\n';
}

int run_shapes(ShapeArguments& arguments) {
  if (arguments.format != "png" && arguments.format != "jpeg")
    throw UsageError("--format must be png or jpeg, not '" + arguments.format + "'");
  arguments.options.jpeg = arguments.format == "jpeg";
  try {
    data::check(arguments.options);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--" + std::string(error.what()));
  }
  try {
    const data::ShapeCounts counts = paint_shapes(arguments);
    if (arguments.json) {
      print_json(to_json(arguments, counts));
      return kDone;
    }
    print_counts(counts);
  } catch (const ShapesInterrupted&) {
    std::cerr << report::program_name() << " data shapes: interrupted; nothing was written\n";
    return kInterrupted;
  }
  std::cout << arguments.folder << '\n';
  return kDone;
}

}  // namespace

Action declare_data_shapes(CLI::App& app) {
  auto arguments = std::make_shared<ShapeArguments>();
  data::ShapeOptions& options = arguments->options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("-o,--output", arguments->folder,
                 "The folder to create, with annotations/instances_train.json and _val.json, and the folders "
                 "images/train and images/val")
      ->required()
      ->type_name("FOLDER");
  const auto number = [&app](const char* name, int64_t& value, const std::string& meaning) {
    add_number(app, name, value, meaning + " (default: " + std::to_string(value) + ")")->type_name("N");
  };
  number("--train", options.train, "Images to train with");
  number("--validation", options.validation, "Images to validate with");
  number("--height", options.height, "Height of an image in pixels");
  number("--width", options.width, "Width of an image in pixels");
  number("--objects", options.most_objects, "Maximum number of objects of an image");
  add_number(app, "--crowds", options.crowds, "Fraction of the images that have a crowd of small shapes (default: 0.1)")
      ->type_name("SHARE");
  app.add_option("--format", arguments->format, "Format of the images: png or jpeg (default: png)")
      ->type_name("FORMAT");
  add_number(app, "--seed", options.seed, "Random seed of the images (default: 0)")->type_name("N");
  add_number(app, "--threads", options.threads,
             "Number of threads, which affects only the speed (default: all threads of the machine)")
      ->type_name("N");
  add_progress_option(app, arguments->progress);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_shapes(*arguments); };
}

}  // namespace cachet::app
