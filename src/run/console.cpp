#include "run/console.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace fedvg {
namespace {

bool set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

bool redraws(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) && kind && std::string(kind) != "dumb";
}

}  // namespace

Console::Console()
    : Console(std::cout, std::cerr,
              {.styled_results = redraws(STDOUT_FILENO) && !set("NO_COLOR"),
               .bar = redraws(STDERR_FILENO)}) {}

Console::Console(std::ostream& results, std::ostream& messages, Abilities abilities)
    : results_(results), messages_(messages), abilities_(abilities) {}

Console::~Console() { clear_progress(); }

bool Console::print(const std::string& line) {
  const std::lock_guard lock(mutex_);
  erase_bar();
  results_ << line << std::endl;
  return results_.good();
}

void Console::warn(const std::string& text) { message("warning: " + text); }
void Console::say(const std::string& text) { message(text); }

void Console::message(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase_bar();
  messages_ << "fedvg: " << text << std::endl;
}

void Console::show_progress(const std::string& label, std::int64_t done, std::int64_t total) {
  constexpr int kWidth = 30;
  constexpr auto kPause = std::chrono::milliseconds(50);
  if (!abilities_.bar || total <= 0) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (bar_shown_ && done < total && now - last_drawn_ < kPause) return;
  last_drawn_ = now;
  bar_shown_ = true;
  const auto filled = static_cast<std::size_t>(kWidth * done / total);
  messages_ << "\r\x1b[K" << label << " [" << std::string(filled, '#')
            << std::string(kWidth - filled, '.') << "] " << done << "/" << total << std::flush;
}

void Console::clear_progress() {
  const std::lock_guard lock(mutex_);
  erase_bar();
}

void Console::erase_bar() {
  if (bar_shown_) messages_ << "\r\x1b[K" << std::flush;
  bar_shown_ = false;
}

std::string Console::styled(const std::string& text, const char* code) const {
  return abilities_.styled_results ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
}

}  // namespace fedvg
