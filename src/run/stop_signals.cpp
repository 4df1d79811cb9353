#include "run/stop_signals.h"

#include <unistd.h>

#include <csignal>
#include <iterator>

namespace fedvg {
namespace {

// A signal handler gets nothing but the signal's number: this has to be a global.
std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before[std::size(kSignals)];

extern "C" void on_stop_signal(int number) {
  if (!stop_requested.exchange(true) || number == SIGHUP) return;
  constexpr char kLeaving[] = "\nfedvg: stopped at once\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, kLeaving, sizeof kLeaving - 1);
  ::_exit(130);
}

}  // namespace

StopSignals::StopSignals() {
  stop_requested = false;
  struct sigaction action = {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    ::sigaction(kSignals[i], &before[i], nullptr);
}

const std::atomic<bool>& StopSignals::requested() const { return stop_requested; }

}  // namespace fedvg
