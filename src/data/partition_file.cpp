#include "data/partition_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "config/nearest.h"
#include "config/toml_text.h"
#include "data/index_lists.h"
#include "data/utf8.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using Json = nlohmann::json;

void check_known(const Json& object, const std::vector<std::string>& known,
                 const std::string& place, const std::string& path) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw DataError(path + ": " + config::unknown_text("key", escaped(key), place, known));
  }
}

void check_keys(const Json& file, const std::string& path) {
  check_known(file, {"clients", "validation", "test", "counts", "source", "data"}, "", path);
  if (!file.contains("clients")) {
    throw DataError(path + " has no \"clients\", the list of the clients' lists of samples");
  }
}

std::string described(const DataIdentity& data) {
  return "\"" + escaped(config::shortened(data.name)) + "\" with " + std::to_string(data.samples) +
         " training samples, fingerprint " + escaped(config::shortened(data.fingerprint));
}

bool is_count(const Json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
}

// Was the file written for `data`? What it does not record is taken on trust.
void check_identity(const Json& recorded, const std::string& path, const DataIdentity& data) {
  if (!recorded.is_object()) throw DataError(path + ": \"data\" must be an object");
  check_known(recorded, {"name", "samples", "fingerprint"}, "in \"data\"", path);
  const auto has = [&](const char* key, bool (*is_right)(const Json&)) {
    if (!recorded.contains(key)) return false;
    if (is_right(recorded[key])) return true;
    throw DataError(path + ": \"data\" must have a name, a number of samples and a fingerprint");
  };
  const auto is_text = [](const Json& value) { return value.is_string(); };
  DataIdentity other{.name = data.name, .samples = data.samples, .fingerprint = data.fingerprint};
  if (has("name", is_text)) other.name = recorded["name"].get<std::string>();
  if (has("samples", is_count)) other.samples = recorded["samples"].get<std::int64_t>();
  if (has("fingerprint", is_text)) other.fingerprint = recorded["fingerprint"].get<std::string>();
  const bool same_name = recorded.contains("fingerprint") || other.name == data.name;
  if (same_name && other.samples == data.samples && other.fingerprint == data.fingerprint) return;
  throw DataError(
      path + " was written for other data: " + described(other) + "; this is " + described(data) +
      ". Give the data it was written for (data.take, data.split and partition.column " +
      "included), or remove \"data\" from the file");
}

void append_list(std::string& text, const std::vector<std::int64_t>& list) {
  text += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(list[i]);
  }
  text += ']';
}

void append_lists(std::string& text, const std::vector<std::vector<std::int64_t>>& lists) {
  text += '[';
  for (std::size_t i = 0; i < lists.size(); ++i) {
    text += i > 0 ? ",\n" : "\n";
    append_list(text, lists[i]);
  }
  text += "]";
}

}  // namespace

Partition read_partition_file(const std::string& path, const DataIdentity& data, bool overlap) {
  const Json file = read_json(path);
  Partition partition;
  if (file.is_object()) {
    check_keys(file, path);
    if (file.contains("data")) check_identity(file["data"], path, data);
    if (file.contains("validation")) {
      partition.validation =
          index_list(file["validation"], data.samples, path + ": validation", "sample");
    }
    if (file.contains("test")) {
      partition.test = index_list(file["test"], data.samples, path + ": test", "sample");
    }
  } else if (!file.is_array()) {
    throw DataError(path +
                    " must be a list of clients' lists or an object with \"clients\", but is " +
                    file.type_name());
  }
  const Json& clients = file.is_object() ? file["clients"] : file;
  partition.clients = index_lists(clients, data.samples, path, "client", "sample");
  if (partition.clients.empty()) throw DataError(path + " has no clients");
  check_disjoint(partition.clients, partition.validation.value_or(IndexList{}),
                 partition.test.value_or(IndexList{}), data.samples, overlap, path);
  return partition;
}

std::string partition_file_text(const std::vector<IndexList>& clients, const IndexList& validation,
                                const std::vector<std::vector<std::int64_t>>& counts,
                                const std::string& source, const DataIdentity& data,
                                const std::optional<IndexList>& test) {
  const auto quoted = [](const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = "{\"source\": " + quoted(source) +
                     ",\n\"data\": {\"name\": " + quoted(data.name) +
                     ", \"samples\": " + std::to_string(data.samples) +
                     ", \"fingerprint\": " + quoted(data.fingerprint) + "},\n\"clients\": ";
  append_lists(text, clients);
  text += ",\n\"validation\": ";
  append_list(text, validation);
  if (test) {
    text += ",\n\"test\": ";
    append_list(text, *test);
  }
  text += ",\n\"counts\": ";
  append_lists(text, counts);
  return text + "}\n";
}

}  // namespace fedvg
