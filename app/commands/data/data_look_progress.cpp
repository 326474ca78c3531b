#include "app/commands/data/data_look_progress.h"

#include "app/output/counted_progress.h"

namespace cachet::app {

tasks::DataLook look_at_data(const tasks::TaskPlan& plan, const std::string& progress_word) {
  CountedProgress progress("compare", progress_word);
  tasks::DataLook look = plan.look_at_data([&](int64_t done, int64_t total) {
    if (total > 0)
      progress.show(done, total);
    else
      progress.show(done, "samples");
  });
  progress.finish();
  return look;
}

}  // namespace cachet::app
