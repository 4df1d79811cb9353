#include <charconv>

#include "commands.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

bool is_device(const std::string& name) {
  if (name == "cpu") return true;
  const std::string digits = name.starts_with("cuda:") ? name.substr(5) : "";
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
}

config::Override workers_override(const std::string& text) {
  std::int64_t workers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw OptionError("--workers " + text + ": wanted a whole number, 0 for all cores");
  }
  Value value(workers);
  value.source.file = "--workers";
  return config::make_override("engine.workers", std::move(value));
}

}  // namespace

void ConfigurationArguments::add_to(CLI::App& command) {
  command.add_option("CONFIG.toml", file_, "the experiment; fedvg list shows every key")
      ->type_name("")
      ->required();
  add_settings_to(command);
}

void ConfigurationArguments::add_data_to(CLI::App& command) {
  command
      .add_option(
          "--data", file_,
          "the experiment whose data and model are meant; else config.toml beside the model")
      ->type_name("CONFIG.toml");
  add_settings_to(command);
}

void ConfigurationArguments::add_settings_to(CLI::App& command) {
  command
      .add_option("--set", assignments_,
                  "replace a setting: train.rounds=10, method.weighting.norm=l2; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void ConfigurationArguments::add_machine_to(CLI::App& command) {
  command
      .add_option("--workers", workers_,
                  "threads that train clients (engine.workers); 0: all cores")
      ->type_name("N");
  command.add_option("--device", device_, "cpu or cuda:N")
      ->type_name("NAME")
      ->capture_default_str();
}

Configuration ConfigurationArguments::load() const {
  return load_with(
      [this](const Overrides& overrides) { return load_configuration(file_, overrides); });
}

Configuration ConfigurationArguments::load_text(const std::string& text,
                                                const std::string& name) const {
  return load_with(
      [&](const Overrides& overrides) { return load_configuration_text(text, name, overrides); });
}

std::vector<config::Override> ConfigurationArguments::overrides() const {
  std::vector<std::string> problems;
  Overrides overrides = read_overrides(problems);
  if (!problems.empty()) throw OptionError(problems);
  return overrides;
}

// Also looks at --device, which becomes none.
ConfigurationArguments::Overrides ConfigurationArguments::read_overrides(
    std::vector<std::string>& problems) const {
  Overrides overrides;
  const auto collect = [&](auto read) {
    try {
      overrides.push_back(read());
    } catch (const OptionError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  };
  for (const auto& assignment : assignments_) {
    collect([&] { return config::read_override(assignment); });
  }
  if (!workers_.empty()) collect([&] { return workers_override(workers_); });
  if (!is_device(device_)) {
    problems.push_back("--device " + device_ + ": wanted cpu or cuda:N, such as cuda:0");
  }
  return overrides;
}

Configuration ConfigurationArguments::load_with(
    const std::function<Configuration(const Overrides&)>& load) const {
  std::vector<std::string> problems;
  const Overrides overrides = read_overrides(problems);
  try {
    Configuration configuration = load(overrides);
    if (problems.empty()) return configuration;
  } catch (const OptionError& error) {
    problems.insert(problems.end(), error.problems().begin(), error.problems().end());
  }
  throw OptionError(problems);
}

}  // namespace fedvg
