#include "cachet/train/trainer.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cachet/config/counted.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/report/format.h"
#include "cachet/report/text/progress.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/data_parallel/joint_training.h"
#include "cachet/train/machine/clock.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/environment.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/machine/interruption.h"
#include "cachet/train/profile/profile_tables.h"
#include "cachet/train/profile/run_profile.h"
#include "cachet/train/runs/data_notes.h"
#include "cachet/train/runs/deciding_metric.h"
#include "cachet/train/runs/evaluation_details.h"
#include "cachet/train/runs/evaluation_line.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/length_notes.h"
#include "cachet/train/runs/resume_command.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/run_log.h"
#include "cachet/train/runs/run_report.h"
#include "cachet/train/runs/run_status.h"
#include "cachet/train/runs/run_summary.h"
#include "cachet/train/runs/tensorboard_log.h"
#include "cachet/train/step/live_run.h"
#include "cachet/train/step/step_meter.h"
#include "cachet/train/step/time_left.h"

namespace cachet::train {
namespace {

/// Thrown through an evaluation that is left for Ctrl-C.
struct EvaluationLeft {};

constexpr double kReportSeconds = 30;  // at least, between two versions of the page

/// Throws std::logic_error for a task that does not name the metric that decides, and which way is better.
RunDescription described(TrainingTask& task) {
  RunDescription run = task.describe();
  deciding_metric(run);
  return run;
}

}  // namespace

int Outcome::exit_code() const {
  switch (ending) {
    case StopReason::interrupted:
      return 130;  // of any signal; the command returns Interruption::exit_code()
    case StopReason::not_finite:
    case StopReason::failed:
      return 1;
    default:
      return 0;
  }
}

class Trainer::Loop {
 public:
  Loop(TrainingTask& task, const Options& options, RunFolder& folder, report::Progress* progress,
       std::shared_ptr<processes::ProcessGroup> processes, io::FileSystem& file_system,
       std::unique_ptr<StepExecutor> executor)
      : task_(task),
        options_(options),
        run_(described(task)),
        folder_(folder),
        progress_(progress),
        file_system_(file_system),
        live_(task, options, processes, std::move(executor)),
        leader_(std::move(processes)),
        store_(folder.checkpoints(), folder.id(), options.train.keep, file_system),
        log_(folder.log(), progress) {}

  int64_t total_steps() const { return live_.total_steps(); }

  Outcome run() {
    Outcome outcome;
    try {
      start();
      outcome.ending = train();
      outcome.message = stop_message(outcome.ending);
    } catch (const NotFinite& error) {
      outcome.ending = StopReason::not_finite;
      outcome.message = not_finite_message(error.what());
    } catch (const std::exception& error) {
      log_.note(error.what());  // with LibTorch's call stack, where it has one
      end(StopReason::failed, error_message(error));
      throw;
    }
    end(outcome.ending, outcome.message);
    outcome.step = live_.state.step;
    outcome.metrics = evaluation_;
    outcome.result = evaluation_result(run_, evaluation_, best_evaluation());
    outcome.seconds = live_.state.seconds;
    return outcome;
  }

 private:
  /// Continues from the newest whole checkpoint, or begins.
  void start() {
    tell_changes();
    const std::map<std::string, data::DataDigest> digests = task_.data_digests();
    for (const std::string& line : folder_.require_same_data(digests, [this] { return task_.data_fingerprints(); }))
      log_.say(line);
    task_.keep_evaluations_in(folder_.unfinished_evaluation());
    const std::optional<CheckpointStore::Found> found = store_.resume();
    for (const std::string& reason : store_.refused()) log_.say("skipped a damaged checkpoint: " + reason);
    if (found) tell_not_removed(found->not_removed);
    leader_.name_stragglers([this](const std::string& line) { log_.say(line); });
    leader_.begin({folder_.config_hash(), live_.device().type(), digests, options_.train.accumulate},
                  found ? std::optional(found->folder) : std::nullopt);
    if (leader_.processes() > 1)
      log_.say(std::to_string(leader_.processes()) + " processes train together, each with a part of every batch");
    if (found) restore(*found);
    if (!found) tell_start_notes();
    started_ = true;
    if (live_.state.evaluated) remove_unfinished_evaluation();  // a process was killed before it did so
    reopen_events();
    store_.require_space(static_cast<uint64_t>(live_.expected_checkpoint_bytes()));
    log_.note("parameters with " + live_.training_step().group_summary());
    for (const std::string& note : live_.take_step_notes()) log_.note(note);
    folder_.describe(run_);
    folder_.trained_by(leader_.processes());
    profile_.emplace(options_.train.profile, total_steps() - live_.state.step);
    wall_start_ = last_save_ = clock_seconds();
    seconds_before_ = live_.state.seconds;
    write_status({});
  }

  /// The machine and the data, and what differs from the run as it was made.
  void tell_changes() {
    log_.note(to_text(environment()));
    for (const std::string& line : task_.data_notes()) log_.note(line);
    for (const std::string& change : folder_.changes()) log_.say("changed on resume: " + change);
    if (!folder_.recipe_text())
      log_.say(folder_.recipe().string() +
               " is missing or cannot be read. This has no effect, because the run is resumed from its other files");
    if (folder_.recipe_was_edited())
      log_.say(folder_.recipe().string() +
               " was edited. This has no effect, because a run keeps the recipe with which it started; to change a "
               "value, use --set");
  }

  /// Cuts metrics.jsonl back to the checkpoint, opens it for the events that follow, and reads those before.
  void reopen_events() {
    const RewoundEvents rewound = rewind_events(folder_.metrics(), live_.state.step, live_.state.evaluated);
    if (rewound.bytes > 0)
      log_.note("removed " + std::to_string(rewound.bytes) +
                " bytes of metrics that were written after the checkpoint");
    if (rewound.damaged_lines > 0)
      log_.say(folder_.metrics().string() + ": " + std::to_string(rewound.damaged_lines) +
               (rewound.damaged_lines == 1 ? " line is damaged and was" : " lines are damaged and were") + " skipped");
    events_.emplace(folder_.metrics(), file_system_);
    history_ = read_events(folder_.metrics());
    for (const Event& event : history_) {
      if (event.kind != Event::Kind::evaluation) continue;
      evaluation_ = event.metrics;
      if (const auto seconds = event.machine.find("evaluation_seconds")) time_left_.add_evaluation(*seconds);
    }
    if (!evaluation_.empty())
      if (const auto details = read_evaluation_details(folder_.evaluation(), live_.state.step))
        task_.restore_evaluation(*details);
    if (!options_.train.tensorboard) return;
    std::vector<report::MetricDescription> metrics = run_.metrics;
    metrics.insert(metrics.end(), trainer_metrics().begin(), trainer_metrics().end());
    tensorboard_.emplace(folder_.path(), folder_.recipe_text().value_or(""), metrics, history_, live_.state.step);
  }

  /// What may waste the time of the run.
  void tell_start_notes() {
    if (const auto note = slow_decay_note(average_options(options_.train), total_steps())) log_.say(*note);
    for (const std::string& note : length_notes(options_, total_steps(), live_.steps_per_epoch())) log_.say(note);
    for (const std::string& note : task_.notes_on_run(live_.length())) log_.say(note);
  }

  void restore(const CheckpointStore::Found& found) {
    const TrainState& saved = found.checkpoint.state;
    if (!folder_.fits_checkpoint(saved.config_hash)) {
      throw std::runtime_error(found.folder.string() +
                               ": was made with a recipe that differs from the recipe of this run");
    }
    const std::vector<std::string> notes = live_.restore(found.checkpoint);
    saved_ = {found.folder, saved.step, evaluation_mark_of(saved)};
    since_evaluation_.resumed = !saved.evaluated;
    if (!found.checkpoint.mark_refused.empty())
      log_.say("the evaluation at this step is repeated: " + found.checkpoint.mark_refused);
    log_.say("resuming from " + found.folder.string() + " (step " + std::to_string(saved.step) + ")");
    if (saved.penalty_in_loss) {
      log_.note("the training loss includes the penalties of the model, as at the start of this run");
    }
    if (saved.torch_version != torch_version() || saved.cachet_version != cachet_version()) {
      log_.say("the checkpoint was made with cachet " + saved.cachet_version + " and LibTorch " + saved.torch_version +
               ". The run continues, but its results will not be bit-identical");
    }
    for (const std::string& note : notes) log_.say(note);
  }

  StopReason train() {
    while (true) {
      if (profile_->is_recording() && (evaluation_due() || due_ending() || checkpoint_due())) finish_profile();
      if (evaluation_due()) {
        settle();
        const double renewing = renew_average();
        save();  // if the evaluation fails, or the process is killed in it, the step is not lost
        evaluate(renewing);
      }
      const std::optional<StopReason> ending = due_ending();
      if (ending || checkpoint_due()) {
        settle();
        save();
      }
      if (ending) {
        gather_faults();
        return *ending;
      }
      step();
    }
  }

  void step() {
    did_something_ = true;
    if (profile_->begins()) start_profile();
    meter_.begin_step();
    const double rate = live_.learning_rate();
    const StepSummary result =
        with_position([&] { return leader_.lead(Command::step, [&] { return live_.advance(); }); });
    interruption_.pass_on(result.stop_signal);
    const double seconds = meter_.end_step(result);
    since_evaluation_.add(result, seconds);
    time_left_.add_step(seconds, result.samples);
    live_.state.running_seconds += seconds;
    live_.state.seconds = seconds_so_far();
    if (progress_ != nullptr) progress_->update(progress(rate, result.gradient_norm));
    if (profile_->is_complete_after(result.samples)) finish_profile();
    if (step_line_due()) log_step(rate);
    require_samples(result);
    if (report_due()) write_report({});
  }

  void start_profile() {
    settle();
    try {
      profile_->start(live_);
    } catch (const std::exception& error) {
      log_.say(error_message(error));
    }
  }

  /// If the profile cannot be written, the run continues without it.
  void finish_profile() {
    settle();
    try {
      const StepProfile profile = profile_->finish(live_);
      write_profile(folder_.profile(), profile, file_system_);
      log_.say("profile: " + profile_text(profile));
    } catch (const std::exception& error) {
      log_.say("the profile could not be written: " + error_message(error));
    }
  }

  /// Throws std::runtime_error at the end of an epoch, and at the end of the run, if all samples of its steps were
  /// skipped.
  void require_samples(const StepSummary& step) {
    for (const MetricSum& sum : step.sums) epoch_weight_ += sum.count;
    epoch_samples_ += step.samples;
    ++epoch_steps_;
    const bool is_end_of_epoch = live_.state.step % live_.steps_per_epoch() == 0;
    if (!is_end_of_epoch && live_.state.step < total_steps()) return;
    if (epoch_samples_ == 0 && epoch_weight_ == 0 &&
        epoch_steps_ == std::min(live_.steps_per_epoch(), live_.state.step)) {
      gather_faults();
      throw std::runtime_error("epoch " + std::to_string(live_.epoch_of(live_.state.step)) + " trained on no " +
                               run_.words.one + ", because all " + run_.words.many +
                               " were skipped; repair or replace the training data");
    }
    epoch_samples_ = epoch_steps_ = 0;
    epoch_weight_ = 0;
  }

  /// Gets the faults of data that other processes found, for tell_notes().
  void gather_faults() {
    if (leader_.processes() == 1) return;
    for (const std::string& fault : leader_.lead(Command::give_faults, [&] { return leader_.gather_faults(); }))
      task_.add_data_fault(fault);
  }

  /// Waits until the last step is complete and its numbers are read.
  void settle() {
    const StepSummary rest = with_position([&] { return live_.settle(); });
    add_sums(since_evaluation_.sums, rest.sums);
    for (const std::string& note : live_.take_step_notes()) log_.say(note);
  }

  /// Adds the position of the step to the message of NotFinite.
  StepSummary with_position(const std::function<StepSummary()>& take) const {
    try {
      return take();
    } catch (const NotFinite& error) {
      const StepPosition at = live_.failed_step();
      throw NotFinite("step " + std::to_string(at.step) + " (epoch " + std::to_string(at.epoch) + ", batch " +
                      std::to_string(at.batch) + "): " + error.what());
    }
  }

  /// Between two evaluations: soon after the first steps, and then so that it costs at most a fiftieth of the time.
  bool report_due() const {
    return !history_.empty() && clock_seconds() - last_report_ >= std::max(kReportSeconds, 50 * report_seconds_);
  }

  // The last line takes what is left, or the means that end a run would be those of a few steps.
  bool step_line_due() const {
    const int64_t left = total_steps() - live_.state.step,
                  every = options_.train.log_every.steps(live_.steps_per_epoch());
    return left == 0 || (due(options_.train.log_every) && left >= every - left);
  }

  void log_step(double rate) {
    settle();
    TrainState& state = live_.state;
    Event event = new_event(Event::Kind::step, means(state.running));
    event.metrics.set("lr", rate);
    event.metrics.set("grad_norm", state.running_norm / static_cast<double>(state.running_steps));
    event.machine = meter_.machine(state.seconds, state.running_seconds, seconds_left());
    if (const auto bytes = device_peak_bytes(device_of(task_.model()))) {
      event.machine.set("device_memory_bytes", static_cast<double>(*bytes));
    }
    record(event);
    state.running.clear();
    state.running_norm = 0;
    state.running_steps = 0;
    state.running_seconds = 0;
    meter_.reset();
  }

  /// Before the evaluation and the checkpoint that may be due at this step.
  double seconds_left() const { return seconds_left(/*from=*/live_.state.step); }

  /// The same with what is due at step `from` and later.
  double seconds_left(int64_t from) const {
    WorkLeft work = work_left(options_.train, live_.steps_per_epoch(), total_steps(), from);
    work.steps = total_steps() - live_.state.step;
    const double left = time_left_.seconds(work, task_.evaluation_size());
    const double most = options_.train.max_hours * 3600;
    return most > 0 ? std::clamp(most - live_.state.seconds, 0.0, left) : left;
  }

  bool evaluation_due() const {
    const TrainState& state = live_.state;
    if (state.step == 0 || state.evaluated) return false;
    return due(options_.train.evaluate_every) || state.step >= total_steps();
  }

  /// Before the checkpoint, which then has the states that the evaluation uses.
  /// Returns the seconds that it took.
  double renew_average() {
    if (!live_.renews_average()) return 0;
    did_something_ = true;
    const double start = clock_seconds();
    const bool renewed = leader_.lead(Command::renew_average, [&] {
      return live_.renew_average([&](int64_t done, int64_t total) { show_passes("states", done, total); });
    });
    live_.state.seconds = seconds_so_far();
    // A run may be resumed at a step whose checkpoint was not saved for an evaluation.
    if (renewed && saved_ && saved_->step == live_.state.step) saved_.reset();
    return clock_seconds() - start;
  }

  /// `renewing`: the seconds that were spent for this evaluation before.
  void evaluate(double renewing) {
    did_something_ = true;
    const double start = clock_seconds();
    const double after = seconds_left(/*from=*/live_.state.step + 1);
    const double foreseen = std::max(0.0, seconds_left() - after);
    try {
      evaluation_ = live_.evaluate([&](int64_t done, int64_t total) {
        const double passed = clock_seconds() - start;
        const double rest = done > 0 ? passed * static_cast<double>(total - done) / static_cast<double>(done)
                                     : std::max(0.0, foreseen - passed);
        show_evaluation(done, total, after + rest);
      });
      update_best();
    } catch (const EvaluationLeft&) {
      live_.state.seconds = seconds_so_far();
      return;  // still to be done, as the checkpoint records
    } catch (const std::exception&) {
      log_.say("the evaluation at step " + std::to_string(live_.state.step) +
               " failed. The checkpoint of this step is " + saved_->folder.string() +
               "; if you resume the run, the checkpoint is evaluated first: " +
               resume_command(folder_.path(), leader_.processes()));
      throw;
    }
    live_.state.evaluated = true;
    live_.state.seconds = seconds_so_far();
    Event event = new_event(Event::Kind::evaluation, evaluation_);
    event.machine.set("seconds", live_.state.seconds);
    const double seconds = clock_seconds() - start;
    event.machine.set("evaluation_seconds", seconds);
    time_left_.add_evaluation(renewing + seconds);
    record(event);
    if (const std::string details = task_.evaluation_details(); !details.empty())
      write_evaluation_details(folder_.evaluation(), live_.state.step, details, file_system_);
    // Last of what a resume reads: until the mark is there, all of it is done again.
    events_->sync();
    mark();
    remove_unfinished_evaluation();
    tell_evaluation();
    gather_faults();
    tell_notes();
    write_summary(folder_.summary(), history_);
    write_status({});
    write_report({});
  }

  /// One line of its results, for the user and the log.
  void tell_evaluation() {
    EvaluationReport report{.place = place_of(live_.state.step), .places = place_of(total_steps()).number};
    report.training = means(since_evaluation_.sums);
    report.since_resume = since_evaluation_.resumed;
    report.evaluation = evaluation_;
    report.best = best_evaluation();
    if (since_evaluation_.seconds > 0) {
      report.samples_per_second = static_cast<double>(since_evaluation_.samples) / since_evaluation_.seconds;
      report.tokens_per_second = static_cast<double>(since_evaluation_.tokens) / since_evaluation_.seconds;
    }
    if (live_.state.step < total_steps()) report.seconds_left = seconds_left(/*from=*/live_.state.step + 1);
    since_evaluation_ = {};
    const std::vector<report::LineField> fields = evaluation_fields(run_, report);
    log_.note(report::fitted_line(fields));
    if (progress_ != nullptr) progress_->conclude(fields);
  }

  /// In epochs, if the run and its evaluations end with epochs.
  RunPlace place_of(int64_t step) const {
    const int64_t epoch = live_.steps_per_epoch();
    if (total_steps() % epoch != 0 || options_.train.evaluate_every.steps(epoch) % epoch != 0) return {false, step};
    return {true, live_.epoch_of(step)};
  }

  std::optional<BestEvaluation> best_evaluation() const {
    const TrainState& state = live_.state;
    if (!state.best) return std::nullopt;
    return BestEvaluation{*state.best, place_of(state.best_step), state.evaluations_since_best == 0};
  }

  void remove_unfinished_evaluation() {
    std::error_code absent;
    std::filesystem::remove(folder_.unfinished_evaluation(), absent);
  }

  /// The log has all new notes, and the terminal the first ones.
  void tell_notes() {
    constexpr size_t kMaxSaid = 10;
    const std::vector<std::string> lines = told_notes_.take_new();
    const size_t said = lines.size() <= kMaxSaid + 1 ? lines.size() : kMaxSaid;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i < said)
        log_.say(lines[i]);
      else
        log_.note(lines[i]);
    }
    if (said < lines.size())
      log_.say(std::to_string(lines.size() - said) + " more lines like these are in " + folder_.log().string());
  }

  void show_evaluation(int64_t done, int64_t total, double seconds_left) {
    if (interruption_.requested()) throw EvaluationLeft{};
    show_passes("eval", done, total, /*concluded=*/true, seconds_left);
  }

  void show_passes(const char* phase, int64_t done, int64_t total, bool concluded = false,
                   std::optional<double> seconds_left = std::nullopt) {
    if (progress_ == nullptr) return;
    report::ProgressState state;
    state.phase = phase;
    state.is_concluded = concluded;
    state.seconds_left = seconds_left;
    state.epoch = live_.epoch_of(live_.state.step);
    state.epochs = live_.epoch_of(total_steps());
    state.step = done;
    state.steps = total;
    progress_->update(state);
  }

  /// Compares the evaluation with the best one so far.
  void update_best() {
    const double value = deciding_value(run_, evaluation_);
    TrainState& state = live_.state;
    const bool higher = deciding_metric(run_).better == report::Better::higher;
    const bool better = std::isfinite(value) && (!state.best || (higher ? value > *state.best : value < *state.best));
    if (better) {
      state.best = value;
      state.best_step = state.step;
    }
    state.evaluations_since_best = better ? 0 : state.evaluations_since_best + 1;
  }

  std::optional<StopReason> due_ending() const {
    const TrainState& state = live_.state;
    if (interruption_.requested()) return StopReason::interrupted;
    if (state.step >= total_steps()) return StopReason::finished;
    if (options_.train.patience && state.evaluations_since_best >= *options_.train.patience)
      return StopReason::early_stop;
    const double most = options_.train.max_hours * 3600;
    if (most > 0 && seconds_so_far() >= most) return StopReason::out_of_time;
    return std::nullopt;
  }

  bool checkpoint_due() const {
    const TrainState& state = live_.state;
    if (state.step == 0) return false;
    if (due(options_.train.checkpoint_every)) return true;
    const double most = options_.train.save_minutes * 60;
    return most > 0 && clock_seconds() - last_save_ >= most;
  }

  /// Between two steps: a checkpoint of the step, or, where it has one, what was added to it since.
  void save() {
    if (live_.state.step == 0) return;
    if (saved_ && saved_->step == live_.state.step) return mark();
    const double start = clock_seconds();
    events_->sync();
    live_.state.for_evaluation = !checkpoint_due() && !due_ending();
    Checkpoint checkpoint = leader_.lead(Command::give_state, [&] { return live_.capture(); });
    checkpoint.state.config_hash = folder_.config_hash();
    const CheckpointStore::Saved saved = store_.save(checkpoint);
    saved_ = {saved.folder, live_.state.step, evaluation_mark_of(live_.state)};
    last_save_ = clock_seconds();
    time_left_.add_checkpoint(last_save_ - start);
    log_.note("saved " + saved.folder.string());
    tell_not_removed(saved.not_removed);
  }

  /// Adds to the checkpoint of this step what an evaluation found since it was saved.
  void mark() {
    const EvaluationMark now = evaluation_mark_of(live_.state);
    if (now == saved_->mark) return;
    const CheckpointStore::Saved marked = store_.mark(saved_->folder, now);
    saved_->mark = now;
    tell_not_removed(marked.not_removed);
  }

  void tell_not_removed(const std::vector<std::string>& reasons) {
    for (const std::string& reason : reasons) log_.say("an older checkpoint could not be removed: " + reason);
  }

  double seconds_so_far() const { return seconds_before_ + (clock_seconds() - wall_start_); }

  bool due(const Duration& every) const { return live_.state.step % every.steps(live_.steps_per_epoch()) == 0; }

  Event new_event(Event::Kind kind, Metrics metrics) {
    const at::NoGradGuard no_grad;
    return {kind, live_.state.step, live_.epoch_of(live_.state.step), std::move(metrics), task_.observe(), {}};
  }

  void record(Event& event) {
    event.machine.set(kUnixTime, unix_time());
    events_->append(event);
    history_.push_back(event);
    if (tensorboard_) tensorboard_->append(event);
    log_.note(event_text(event, total_steps(), run_));
  }

  report::ProgressState progress(double rate, double norm) const {
    const int64_t per_epoch = live_.steps_per_epoch(), step = live_.state.step;
    report::ProgressState state = progress_state(live_.state, run_, rate, norm, meter_);
    state.epoch = live_.epoch_of(step);
    state.epochs = live_.epoch_of(total_steps());
    state.step = (step - 1) % per_epoch + 1;
    state.steps = std::min(per_epoch, total_steps() - (state.epoch - 1) * per_epoch);  // the run may end in mid-epoch
    state.run_done = static_cast<double>(step) / static_cast<double>(total_steps());
    state.seconds_left = seconds_left();
    return state;
  }

  std::string stop_message(StopReason ending) const {
    const std::string at = "at step " + std::to_string(live_.state.step) + " of " + std::to_string(total_steps());
    switch (ending) {
      case StopReason::interrupted:
        return "interrupted " + at + "; resume with: " + resume_command(folder_.path(), leader_.processes());
      case StopReason::early_stop:
        return "stopped early " + at + ": " + config::counted(live_.state.evaluations_since_best, "evaluation") +
               " in a row had no better " + deciding_metric(run_).title;
      case StopReason::out_of_time:
        return "out of time " + at +
               " (train.max_hours); resume with: " + resume_command(folder_.path(), leader_.processes()) +
               " --set train.max_hours=…";
      default:
        return "";
    }
  }

  std::string not_finite_message(const std::string& what) const {
    const auto last = store_.last();
    return what + "\nNothing was saved after this; " +
           (last ? "the last good checkpoint is " + last->string() : std::string("there is no checkpoint yet")) +
           ". Try a lower optimizer.lr or optimizer.weight_decay, a longer schedule.warmup or train.clip_norm.";
  }

  /// At every kind of ending. Nothing here may hide why the run ends.
  void end(StopReason ending, const std::string& message) noexcept {
    leader_.leave();
    try {
      if (profile_) profile_->give_up();
      tell_notes();
      if (progress_ != nullptr) progress_->finish();
      log_.note(std::string(to_string(ending)) + (message.empty() ? "" : ": " + message));
      if (!started_ && has_trained_before()) return;
      const Status status{.running = false, .ending = ending, .message = message};
      if (did_something_ || !std::filesystem::exists(folder_.report())) write_report(status);
      write_status(status);
    } catch (...) {
    }
  }

  /// A resume that fails before it has read the checkpoint does not change such a run: its status and page stay.
  bool has_trained_before() const {
    const std::optional<Status> status = read_status(folder_.status());
    return (status && status->step > 0) || !newest_checkpoints(folder_.checkpoints()).empty();
  }

  Status placed(Status status) const {
    status.step = live_.state.step;
    status.total_steps = total_steps();
    status.epoch = live_.epoch_of(live_.state.step);
    status.epochs = live_.epoch_of(total_steps());
    return status;
  }

  void write_status(const Status& status) {
    io::write_file_atomically(folder_.status(), to_json(placed(status)), file_system_);
  }

  void write_report(const Status& status) {
    const double start = clock_seconds();
    try {
      const Status now = placed(status);
      write_run_report(folder_, run_, now, history_, task_.report_sections(history_, now));
    } catch (const std::exception& error) {
      log_.say("the report could not be written: " + error_message(error));
    }
    last_report_ = clock_seconds();
    report_seconds_ = last_report_ - start;
  }

  TrainingTask& task_;
  Options options_;
  RunDescription run_;
  RunFolder& folder_;
  report::Progress* progress_;
  io::FileSystem& file_system_;
  LiveRun live_;
  Leader leader_;
  CheckpointStore store_;
  RunLog log_;
  std::optional<EventLog> events_;
  DataNotes told_notes_{task_};
  std::vector<Event> history_;  // all that metrics.jsonl holds, which is read once
  std::optional<TensorBoardLog> tensorboard_;
  std::optional<RunProfile> profile_;
  StepMeter meter_;
  TimeLeft time_left_;
  /// What was trained since the last evaluation.
  struct SinceEvaluation {
    std::vector<MetricSum> sums;
    int64_t samples = 0, tokens = 0;
    double seconds = 0;
    bool resumed = false;  // whether steps before a resume are missing

    void add(const StepSummary& step, double step_seconds) {
      add_sums(sums, step.sums);
      samples += step.samples;
      tokens += step.tokens;
      seconds += step_seconds;
    }
  };
  SinceEvaluation since_evaluation_;
  int64_t epoch_samples_ = 0, epoch_steps_ = 0;  // of the steps of the epoch since the start or the resume
  double epoch_weight_ = 0;                      // sum of the weights of their metrics
  Interruption interruption_;
  Metrics evaluation_;
  struct SavedCheckpoint {
    std::filesystem::path folder;
    int64_t step;
    EvaluationMark mark;  // what it knows of its evaluation
  };
  std::optional<SavedCheckpoint> saved_;  // the newest one of this run
  bool started_ = false;                  // from a checkpoint, or from the beginning
  bool did_something_ = false;            // a finished run that is resumed keeps its page
  double seconds_before_ = 0;
  double wall_start_ = clock_seconds(), last_save_ = wall_start_;
  double last_report_ = wall_start_, report_seconds_ = 0;
};

Trainer::Trainer(TrainingTask& task, const Options& options, RunFolder& folder, report::Progress* progress,
                 std::shared_ptr<processes::ProcessGroup> processes, io::FileSystem& file_system,
                 std::unique_ptr<StepExecutor> executor)
    : loop_(std::make_unique<Loop>(task, options, folder, progress, std::move(processes), file_system,
                                   std::move(executor))) {}

Trainer::~Trainer() = default;

Outcome Trainer::run() { return loop_->run(); }

int64_t Trainer::total_steps() const { return loop_->total_steps(); }

}  // namespace cachet::train
