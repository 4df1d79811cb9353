#include "run/sweep/sweep_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "data/write_all.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

// From fork to exec: this process's memory, but one thread, so system calls only. The signals are
// blocked meanwhile, since our handlers would swallow them.
[[noreturn]] void become(const char* program, char* const* arguments, int output, pid_t parent,
                         const cpu_set_t* cores, const sigset_t& mask) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(130);  // it died before it could have been told
  if (cores) ::sched_setaffinity(0, sizeof *cores, cores);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(program, arguments);
  constexpr char kFailed[] = "fedvg: error: the program cannot be started\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, kFailed, sizeof kFailed - 1);
  ::_exit(127);
}

ProcessEnd end_of(int status) {
  if (WIFSIGNALED(status)) return {.code = 0, .signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status), .signal = 0};
}

}  // namespace

SweepProcess::SweepProcess(const ProcessStart& start) {
  std::vector<std::string> words = {"fedvg"};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const int core : start.cores) CPU_SET(core, &cores);

  ::signal(SIGCHLD, SIG_DFL);  // ignored, as some leave it, there is no end to be asked for
  const int output =
      ::open(start.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (output < 0) cannot_write(start.output, errno);
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  number_ = ::fork();
  if (number_ == 0) {
    become(start.program.c_str(), arguments.data(), output, parent,
           start.cores.empty() ? nullptr : &cores, before);
  }
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(output);
  if (number_ < 0) {
    throw RunError("no process can be started: " + std::generic_category().message(error));
  }
  ::setpgid(number_, number_);  // also here: it must be so before anything else happens
}

SweepProcess::~SweepProcess() {
  stop();
  int status = 0;
  while (!end_ && ::waitpid(number_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ProcessEnd> SweepProcess::end() {
  int status = 0;
  if (!end_ && ::waitpid(number_, &status, WNOHANG) == number_) end_ = end_of(status);
  return end_;
}

void SweepProcess::stop() {
  if (end_ || stopped_) return;
  stopped_ = true;
  ::kill(number_, SIGHUP);
}

}  // namespace fedvg
