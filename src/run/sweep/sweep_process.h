#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fedvg {

/// A program that is started beside this one.
struct ProcessStart {
  std::filesystem::path program;
  std::vector<std::string> arguments;  ///< without the program's name; no shell sees them
  std::filesystem::path output;        ///< what it prints goes to the end of this file
  std::vector<int> cores;              ///< on which it may run; empty: as this process
};

/// How a process ended.
struct ProcessEnd {
  int code = 0;    ///< exit code, where no signal ended it
  int signal = 0;  ///< 0: none
};

/// A running program. It is in a process group of its own, so that Ctrl-C in a terminal does not
/// reach it, has nothing on its standard input, and gets SIGTERM when the thread that started it
/// dies.
class SweepProcess {
 public:
  /// Throws RunError: the output cannot be opened, or no process can be made. A program that is
  /// not there ends with code 127.
  explicit SweepProcess(const ProcessStart& start);
  /// stop() where it has not ended, and waits.
  ~SweepProcess();
  SweepProcess(const SweepProcess&) = delete;
  SweepProcess& operator=(const SweepProcess&) = delete;

  /// Does not wait. Nothing while it goes on.
  std::optional<ProcessEnd> end();
  /// SIGHUP, which for fedvg is a request that does no harm where SIGTERM came from elsewhere
  /// already (a batch system tells all processes). Only the first call counts.
  void stop();
  pid_t number() const { return number_; }

 private:
  pid_t number_ = -1;
  std::optional<ProcessEnd> end_;
  bool stopped_ = false;
};

}  // namespace fedvg
