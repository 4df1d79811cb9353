#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>

#include "commands.h"
#include "config/nearest.h"
#include "fedvg/error.h"
#include "fedvg/version.h"

namespace fedvg {
namespace {

constexpr int kUsage = 2, kRun = 4, kInternal = 70;

void print_error(const std::string& message, const char* kind = "error: ") {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) std::cerr << "fedvg: " << kind << line << "\n";
  }
}

void add_commands(CLI::App& program, const MallocSettings& malloc) {
  add_run_command(program, malloc);
  add_sweep_command(program);
  add_compare_command(program);
  add_check_command(program);
  add_partition_command(program);
  add_evaluate_command(program);
  add_bench_command(program, malloc);
  add_list_command(program);
}

// What every command line has: help, version, what follows a mistake.
void set_up(CLI::App& program) {
  program.set_version_flag("--version", std::string("fedvg " FEDVG_VERSION " (" FEDVG_COMMIT ")"),
                           "print version and commit");
  program.set_help_flag("-h,--help", "print this help");
  program.require_subcommand(1);
  program.get_formatter()->column_width(26);
  program.footer(
      "Exit codes: 0 done, 2 usage or configuration, 3 data, 4 run, 70 fault of the program, 130 "
      "interrupted.\n\n"
      "Example:\n  fedvg run fmnist.toml --set method.name=fedvg");
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11 would take a misspelt command for a surplus argument.
void check_command_name(const CLI::App& program, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const auto names = command_names(program);
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  throw OptionError(config::unknown_text("command", argv[1], "", names));
}

int report_usage(const CLI::ParseError& error, const CLI::App& program) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return program.exit(error);  // help or version, printed on standard output
  }
  const auto chosen = program.get_subcommands();
  const CLI::App& command = chosen.empty() ? program : *chosen.front();
  std::string message =
      chosen.empty() && program.remaining().empty()
          ? "no command given: run, sweep, compare, check, partition, evaluate, bench or list"
          : error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  for (const std::string& surplus : command.remaining()) {
    if (!surplus.starts_with("--")) continue;
    message = config::unknown_text("option", surplus.substr(0, surplus.find('=')), "",
                                   option_names(command));
    break;
  }
  print_error(message);
  const std::string help = chosen.empty() ? "fedvg" : "fedvg " + command.get_name();
  print_error("see '" + help + " --help'", "");
  return kUsage;
}

// libtorch's messages go on with a stack trace.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// libtorch has an exception of its own for it, on a processor and on a GPU.
bool is_no_memory(const std::string& text) {
  return text.find("can't allocate memory") != std::string::npos ||
         text.find("CUDA out of memory") != std::string::npos;
}

int report_no_memory() {
  print_error("out of memory: fewer workers (--workers) or a smaller engine.window need less");
  return kRun;
}

int run_command(CLI::App& program, int argc, const char* const* argv) {
  try {
    check_command_name(program, argc, argv);
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return report_usage(error, program);
  } catch (const Interrupted& error) {
    print_error(error.what(), "");
    return error.exit_code();
  } catch (const Error& error) {
    print_error(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    return report_no_memory();
  } catch (const std::filesystem::filesystem_error& error) {
    print_error(error.path1().string() + ": " + error.code().message());
    return kRun;
  } catch (const std::exception& error) {
    if (is_no_memory(error.what())) return report_no_memory();
    print_error(first_line(error.what()), "internal error: ");
    return kInternal;
  }
}

// A file that is opened must not become standard output because that was closed (>&-).
void open_standard_streams() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) == -1) ::open("/dev/null", O_RDWR);
  }
}

// `fedvg list | head -1`: nobody misses the rest.
bool nobody_reads_output() {
  pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

int run_program(int argc, const char* const* argv, const MallocSettings& malloc) {
  open_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a run outlives who reads what it prints
  CLI::App program("Federated learning with validation-guided weights.", "fedvg");
  set_up(program);
  add_commands(program, malloc);
  const int code = run_command(program, argc, argv);
  if (!std::cout.flush() && !nobody_reads_output()) {
    print_error("standard output cannot be written");
    return code == 0 ? kRun : code;
  }
  return code;
}

}  // namespace fedvg
