#include "run/sweep/sweep_file.h"

#include <algorithm>
#include <set>

#include "config/nearest.h"
#include "config/overrides.h"
#include "config/problems.h"
#include "config/toml_file.h"
#include "config/toml_text.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

// "a/../b.toml" as "b.toml", unless a is a link that leads elsewhere.
fs::path shortened(const fs::path& path) {
  std::error_code error;
  const fs::path shorter = path.lexically_normal();
  return fs::equivalent(path, shorter, error) && !error ? shorter : path;
}

class Reader {
 public:
  explicit Reader(const fs::path& path) : document_(config::read_toml_file(path)) {
    file_.path = path;
    file_.seeds.key = "seed";
  }

  SweepFile read() {
    refuse_unknown();
    read_paths();
    read_axes("grid", file_.grid);
    read_axes("zip", file_.zip);
    read_seeds();
    check_keys();
    check_zip();
    check_number();
    problems_.throw_if_any();
    return std::move(file_);
  }

 private:
  void fail(const Source& source, const std::string& where, const std::string& message) {
    problems_.add(source, where, message);
  }
  Source whole() const { return {file_.path.string(), 0}; }

  static std::string got(const Value& value) {
    return std::string("got ") + value.type_name() + " " + config::shortened(value.text());
  }

  void refuse_unknown() {
    const std::vector<std::string> known = {"base", "out", "seeds", "grid", "zip"};
    for (const auto& [key, value] : document_.entries()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      fail(value.source, "",
           config::unknown_text("option", key, "of a sweep file", known) +
               "; settings of single runs stand under [grid] or [zip], those of all runs in base");
    }
  }

  // Nothing after a mistake, which is reported, and where there is no such key.
  std::string text_of(const char* key, const char* wanted) {
    const Value* value = document_.find(key);
    if (!value) return "";
    const auto* text = value->get<std::string>();
    if (text && !text->empty()) return *text;
    fail(value->source, key, std::string("wanted ") + wanted + ", " + got(*value));
    return "";
  }

  void read_paths() {
    const std::string base = text_of("base", "the path of a configuration");
    if (!base.empty()) file_.base = shortened(file_.path.parent_path() / base);
    if (!document_.find("base")) {
      fail(whole(), "base", "is missing: the configuration that all runs share, \"a.toml\"");
    }
    file_.out = text_of("out", "the name of a folder");
    if (file_.out.empty()) file_.out = fs::path("sweeps") / file_.path.stem();
    if (!file_.out.has_filename()) file_.out = file_.out.parent_path();  // "folder/"
  }

  void read_axes(const char* section, std::vector<SweepAxis>& axes) {
    const Value* value = document_.find(section);
    if (!value) return;
    const Table* table = value->get<Table>();
    if (table) return collect(*table, section, "", axes);
    fail(value->source, section,
         std::string("wanted a section, [") + section + "], " + got(*value));
  }

  // partition.alpha = [...] without quotes is a table in a table.
  void collect(const Table& table, const std::string& section, const std::string& prefix,
               std::vector<SweepAxis>& axes) {
    for (const auto& [key, value] : table.entries()) {
      const std::string dotted = prefix + key;
      const std::string where = "[" + section + "] " + dotted;
      if (const Table* inside = value.get<Table>(); inside && !inside->empty()) {
        collect(*inside, section, dotted + ".", axes);
        continue;
      }
      const Array* list = value.get<Array>();
      if (!list || list->empty()) {
        fail(value.source, where, "wanted a list of values, as in [0.1, 1], " + got(value));
        continue;
      }
      if (!is_key(dotted, value.source, where)) continue;
      axes.push_back({dotted, *list, value.source});
      if (section == "grid") check_twice(*list, where);
    }
  }

  bool is_key(const std::string& key, const Source& source, const std::string& where) {
    try {
      config::make_override(key, 0);
      return true;
    } catch (const OptionError&) {
      fail(source, where, "a key, or a part of it, is empty");
      return false;
    }
  }

  void check_twice(const std::vector<Value>& values, const std::string& where) {
    std::set<std::string> seen;
    for (const Value& value : values) {
      if (seen.insert(value.text()).second) continue;
      fail(value.source, where, config::shortened(value.text()) + " stands there twice");
    }
  }

  void read_seeds() {
    const Value* value = document_.find("seeds");
    if (!value) return;
    file_.seeds.source = value->source;
    const Array* list = value->get<Array>();
    const auto is_seed = [](const Value& seed) {
      const auto* number = seed.get<std::int64_t>();
      return number && *number >= 0;
    };
    if (!list || list->empty() || !std::all_of(list->begin(), list->end(), is_seed)) {
      fail(value->source, "seeds",
           "wanted a list of whole numbers >= 0, as in [1, 2, 3], " + got(*value));
      return;
    }
    file_.seeds.values = *list;
    check_twice(*list, "seeds");
  }

  void check_keys() {
    std::set<std::string> seen;
    for (const SweepAxis* axis : file_.axes()) {
      if (seen.insert(axis->key).second) continue;
      fail(axis->source, axis->key,
           axis->key == "seed" ? "is varied twice, by seeds and under [grid] or [zip]"
                               : "is varied twice; a key stands under [grid] or under [zip]");
    }
  }

  void check_zip() {
    const auto differs = [&](const SweepAxis& axis) { return axis.values.size() != file_.rows(); };
    if (std::none_of(file_.zip.begin(), file_.zip.end(), differs)) return;
    std::string lengths;
    for (const SweepAxis& axis : file_.zip) {
      lengths +=
          (lengths.empty() ? "" : ", ") + axis.key + " has " + std::to_string(axis.values.size());
    }
    fail(file_.zip.front().source, "[zip]",
         "its lists are taken value by value and must be equally long: " + lengths);
  }

  void check_number() {
    if (!problems_.empty()) return;
    if (file_.axes().empty()) {
      fail(whole(), "",
           "nothing varies: it has neither seeds nor [grid] nor [zip]; for a single run there is "
           "fedvg run");
    }
    double runs = 1;
    for (const SweepAxis& axis : file_.grid) runs *= static_cast<double>(axis.values.size());
    runs *= static_cast<double>(file_.rows());
    runs *= static_cast<double>(std::max<std::size_t>(1, file_.seeds.values.size()));
    if (runs > static_cast<double>(SweepFile::kMostRuns)) {
      fail(whole(), "",
           "more than " + std::to_string(SweepFile::kMostRuns) +
               " runs; divide it into several sweeps");
    }
  }

  Table document_;
  SweepFile file_;
  config::Problems problems_;
};

}  // namespace

std::size_t SweepFile::runs() const {
  std::size_t runs = rows() * std::max<std::size_t>(1, seeds.values.size());
  for (const SweepAxis& axis : grid) runs *= axis.values.size();
  return runs;
}

std::vector<const SweepAxis*> SweepFile::axes() const {
  std::vector<const SweepAxis*> all;
  for (const SweepAxis& axis : grid) all.push_back(&axis);
  for (const SweepAxis& axis : zip) all.push_back(&axis);
  if (!seeds.values.empty()) all.push_back(&seeds);
  return all;
}

SweepFile read_sweep_file(const fs::path& path) { return Reader(path).read(); }

}  // namespace fedvg
