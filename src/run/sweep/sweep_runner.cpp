#include "run/sweep/sweep_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "data/wording.h"
#include "engine/cores.h"
#include "engine/stopwatch.h"
#include "fedvg/error.h"
#include "run/round_lines.h"
#include "run/setup_block.h"
#include "run/sweep/sweep_comparison.h"
#include "run/sweep/sweep_jobs.h"
#include "run/sweep/sweep_process.h"
#include "run/sweep/sweep_progress.h"
#include "run/sweep/sweep_run_state.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr int kInterrupted = 130;

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

// Why a run failed: what it printed as its error since `begin` bytes of its log.
std::string reason_in(const fs::path& log, std::uintmax_t begin) {
  std::ifstream in(log, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  std::string reason;
  std::int64_t more = 0;
  for (std::string line; std::getline(in, line);) {
    for (const std::string kind : {"fedvg: error: ", "fedvg: internal error: "}) {
      if (!line.starts_with(kind)) continue;
      if (reason.empty()) {
        reason = line.substr(kind.size());
      } else {
        ++more;
      }
    }
  }
  return more > 0 ? reason + " (and " + counted(more, "more line") + ")" : reason;
}

std::string signal_text(int number) {
  if (number == SIGKILL) return "killed (signal 9), as the system does when memory runs out";
  return fmt::format("ended by signal {} ({})", number, ::strsignal(number));
}

// One run that goes on.
struct Job {
  const PlannedRun* run;
  std::size_t slot;
  Stopwatch watch;
  std::uintmax_t log_size;  // before it
  std::unique_ptr<SweepProcess> process;
};

struct Failure {
  std::string name, reason;
};

class Runner {
 public:
  Runner(const SweepPlan& plan, SweepFolder& folder, const SweepRequest& request, Console& console,
         const std::atomic<bool>& stop)
      : plan_(plan), folder_(folder), request_(request), console_(console), stop_(stop) {}

  void run() {
    for (const PlannedRun& run : plan_.runs) {
      name_width_ = std::max(name_width_, run.name.size());
      if (is_finished_run(folder_.run(run.name), run.config, run.rounds)) {
        ++finished_before_;
        continue;
      }
      todo_.push_back(&run);
      progress_.add(run.name, folder_.run(run.name), run.rounds);
    }
    if (!todo_.empty()) carry_out();
    summarize();
    if (stop_ && finished() < std::ssize(plan_.runs)) interrupted();
    if (!failures_.empty()) {
      throw RunError(fmt::format("{} of {} failed: the same command tries again", failures_.size(),
                                 counted(std::ssize(plan_.runs), "run")));
    }
  }

 private:
  std::int64_t finished() const { return finished_before_ + finished_now_; }

  void carry_out() {
    const Jobs jobs = divide_cores(allowed_cores(), wish());
    for (std::size_t i = jobs.size(); i-- > 0;) free_slots_.push_back(i);
    console_.print(fmt::format("{} in {}{}: {}", counted(std::ssize(plan_.runs), "run"),
                               folder_.path().string(), before_text(), jobs_text(jobs)));
    await_others();
    watch_ = Stopwatch();
    for (std::size_t next = 0; !jobs_.empty() || (next < todo_.size() && !stop_);) {
      while (next < todo_.size() && !free_slots_.empty() && !stop_) start(*todo_[next++], jobs);
      pass_on_stop();
      look_after();
      show_progress();
      if (!jobs_.empty()) rest();
    }
    console_.clear_progress();
  }

  JobsWish wish() const {
    JobsWish wish{
        .runs = std::ssize(todo_), .jobs = request_.jobs, .on_cpu = request_.device == "cpu"};
    for (const PlannedRun* run : todo_) {
      wish.workers = std::max(wish.workers, run->workers);
      wish.threads = std::max(wish.threads, run->threads);
    }
    return wish;
  }

  std::string before_text() const {
    if (finished_before_ == 0) return "";
    return fmt::format(", {} finished before", finished_before_);
  }

  // Runs of a sweep that was killed take a moment to write their checkpoints.
  void await_others() {
    constexpr double kPatience = 120;  // seconds; then the run itself says who is in its way
    const Stopwatch watch;
    bool said = false;
    for (const PlannedRun* run : todo_) {
      const fs::path folder = folder_.run(run->name);
      while (FolderLock::taken(folder) && !stop_ && watch.seconds() < kPatience) {
        if (!said) console_.say("waiting for the process that still works in " + folder.string());
        said = true;
        rest();
      }
    }
  }

  void start(const PlannedRun& run, const Jobs& jobs) {
    const fs::path path = folder_.run(run.name), log = folder_.log(run.name);
    const bool resumed = fs::exists(path);
    Job job{.run = &run, .slot = free_slots_.back(), .watch = {}, .log_size = 0, .process = {}};
    try {
      folder_.write_configuration(plan_, run);
      std::error_code missing;
      const auto size = fs::file_size(log, missing);
      if (!missing) job.log_size = size;
      job.process = std::make_unique<SweepProcess>(
          ProcessStart{.program = "/proc/self/exe",
                       .arguments = {"run", folder_.configuration(run.name).string(), "--out",
                                     path.string(), "--resume", "--device", request_.device},
                       .output = log,
                       .cores = jobs[job.slot]});
    } catch (const RunError& error) {
      progress_.close(run.name);
      fail(run.name, error.what(), "");
      return;
    }
    free_slots_.pop_back();
    jobs_.push_back(std::move(job));
    print(run.name, resumed ? "resumed" : "started", "");
  }

  void pass_on_stop() {
    if (!stop_ || told_) return;
    told_ = true;
    if (jobs_.empty()) return;
    console_.say(
        fmt::format("stopping: waiting for {} to leave checkpoints; a second time leaves "
                    "at once",
                    counted(std::ssize(jobs_), "run")));
    for (Job& job : jobs_) job.process->stop();
  }

  void look_after() {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      const auto end = job->process->end();
      if (!end) {
        ++job;
        continue;
      }
      progress_.close(job->run->name);
      ended(*job, *end);
      free_slots_.push_back(job->slot);
      job = jobs_.erase(job);
    }
  }

  void ended(const Job& job, const ProcessEnd& end) {
    const std::string& name = job.run->name;
    const std::string seconds = duration_text(job.watch.seconds());
    const bool interrupted =
        end.signal == SIGTERM || end.signal == SIGHUP || end.code == kInterrupted;
    if (end.signal == 0 && end.code == 0) {
      ++finished_now_;
      const auto accuracy = final_accuracy(folder_.run(name));
      print(name, "finished",
            fmt::format("{:>7}  test accuracy {}  {}", seconds,
                        accuracy ? figure_text(*accuracy) : "-", rest_text()));
    } else if (interrupted && told_) {
      print(name, "stopped", fmt::format("{:>7}", seconds));
    } else {
      fail(name, reason_of(job, end, interrupted), seconds);
    }
  }

  std::string reason_of(const Job& job, const ProcessEnd& end, bool interrupted) const {
    if (interrupted) return "somebody stopped it";
    if (end.signal != 0) return signal_text(end.signal);
    const fs::path log = folder_.log(job.run->name);
    const std::string reason = reason_in(log, job.log_size);
    return reason.empty() ? fmt::format("exit code {}; see {}", end.code, log.string()) : reason;
  }

  void fail(const std::string& name, const std::string& reason, const std::string& seconds) {
    failures_.push_back({name, reason});
    print(name, "failed", fmt::format("{:>7}  {}", seconds, reason));
  }

  // "5/12, ETA 3:07"
  std::string rest_text() const {
    std::string text = fmt::format("{}/{}", finished(), plan_.runs.size());
    if (finished() + std::ssize(failures_) == std::ssize(plan_.runs)) return text;
    const auto left = progress_.seconds_left(watch_.seconds());
    return text + ", ETA " + (left ? duration_text(*left) : "-");
  }

  void show_progress() {
    constexpr double kPause = 0.5;  // seconds
    if (jobs_.empty() || (shown_ && shown_->seconds() < kPause)) return;
    shown_.emplace();
    for (const Job& job : jobs_) progress_.look(job.run->name);
    console_.show_progress("runs " + rest_text() + ", rounds", progress_.done(), progress_.total());
  }

  void print(const std::string& name, const char* what, const std::string& more) {
    std::string line = fmt::format("{:<{}}  {:<8}  {}", name, name_width_, what, more);
    line.erase(line.find_last_not_of(' ') + 1);
    console_.print(line);
  }

  void summarize() {
    console_.print(
        topic_line("finished", fmt::format("{} of {}{}", finished(),
                                           counted(std::ssize(plan_.runs), "run"), before_text())));
    for (const Failure& failure : failures_) {
      console_.print(topic_line("failed", failure.name + ": " + failure.reason));
    }
    if (!failures_.empty()) {
      console_.print(topic_line("logs", (folder_.path() / "logs").string()));
    }
    if (finished() > 0) {
      console_.print(topic_line("compare", compare_command(plan_, folder_.path())));
    }
  }

  [[noreturn]] void interrupted() const {
    throw Interrupted(fmt::format(
        "interrupted with {} of {} finished; fedvg sweep {}, with the same options, goes on",
        finished(), counted(std::ssize(plan_.runs), "run"), plan_.file.path.string()));
  }

  const SweepPlan& plan_;
  SweepFolder& folder_;
  const SweepRequest& request_;
  Console& console_;
  const std::atomic<bool>& stop_;
  std::vector<const PlannedRun*> todo_;
  std::vector<Job> jobs_;
  std::vector<std::size_t> free_slots_;  // the next one last
  std::vector<Failure> failures_;
  SweepProgress progress_;
  std::int64_t finished_before_ = 0, finished_now_ = 0;
  std::size_t name_width_ = 0;
  bool told_ = false;  // the runs, to stop
  Stopwatch watch_;
  std::optional<Stopwatch> shown_;  // since the bar was drawn last
};

std::string state_text(const fs::path& folder, const PlannedRun& run) {
  if (is_finished_run(folder, run.config, run.rounds)) return "finished";
  const std::string obstacle = obstacle_in(folder, run.config, run.rounds);
  if (!obstacle.empty()) return "refused: " + obstacle;
  if (!fs::exists(folder)) return "to do";
  return fmt::format("round {} of {}", RoundCounter(folder).count(), run.rounds);
}

}  // namespace

void run_sweep(const SweepPlan& plan, SweepFolder& folder, const SweepRequest& request,
               Console& console, const std::atomic<bool>& stop) {
  Runner(plan, folder, request, console, stop).run();
}

std::vector<std::string> sweep_lines(const SweepPlan& plan, const fs::path& folder) {
  std::size_t width = 0, state_width = 0;
  std::vector<std::string> states, lines;
  for (const PlannedRun& run : plan.runs) {
    states.push_back(state_text(folder / run.name, run));
    width = std::max(width, (folder / run.name).string().size());
    state_width = std::max(state_width, states.back().size());
  }
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    lines.push_back(fmt::format("{:<{}}  {:<{}}  {}", (folder / plan.runs[i].name).string(), width,
                                states[i], state_width, settings_text(plan.runs[i].settings)));
  }
  return lines;
}

}  // namespace fedvg
