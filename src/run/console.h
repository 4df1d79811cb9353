#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <string>

namespace fedvg {

/// Where a run speaks: results to one stream, messages and a progress bar to another.
/// Colour and bar only on a terminal; NO_COLOR (https://no-color.org) and TERM=dumb are
/// obeyed. Safe to use from several threads.
class Console {
 public:
  struct Abilities {
    bool styled_results = false;  ///< results may carry bold and underline
    bool bar = false;             ///< messages go to a terminal that can redraw a line
  };

  /// Standard output and standard error, with what their terminals can do.
  Console();
  /// Both streams must outlive the console.
  Console(std::ostream& results, std::ostream& messages, Abilities abilities);
  ~Console();

  /// A line of the result, flushed so that `| tee` shows it at once. false: it could not be
  /// written (a closed pipe, a full disk), and no later one will.
  bool print(const std::string& line);
  /// "fedvg: warning: …"
  void warn(const std::string& message);
  /// "fedvg: …"
  void say(const std::string& message);

  /// Redraws the bar below what was printed; nothing where there is no terminal.
  void show_progress(const std::string& label, std::int64_t done, std::int64_t total);
  void clear_progress();

  std::string bold(const std::string& text) const { return styled(text, "1"); }
  std::string underlined(const std::string& text) const { return styled(text, "4"); }

 private:
  std::string styled(const std::string& text, const char* code) const;
  void erase_bar();
  void message(const std::string& text);

  std::ostream& results_;
  std::ostream& messages_;
  Abilities abilities_;
  std::mutex mutex_;
  bool bar_shown_ = false;
  std::chrono::steady_clock::time_point last_drawn_{};
};

}  // namespace fedvg
