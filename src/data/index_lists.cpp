#include "data/index_lists.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>

#include "config/toml_text.h"
#include "data/file_bytes.h"
#include "data/utf8.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using Json = nlohmann::json;

std::string at(std::size_t position) { return ", position " + std::to_string(position) + ": "; }

std::string text(const Json& value) {
  return config::shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Of a whole number: in [0, limit)?
bool below(const Json& value, std::int64_t limit) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>() < static_cast<std::uint64_t>(limit);
  }
  return value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() < limit;
}

// Position of the first entry that an earlier one equals; size() when there is none.
std::size_t first_repeat(const IndexList& indexes) {
  IndexList sorted = indexes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return indexes.size();
  std::set<std::int64_t> seen;
  std::size_t i = 0;
  while (seen.insert(indexes[i]).second) ++i;
  return i;
}

// Who holds each sample: nobody (-3), the test set (-2), D_val (-1) or a client.
constexpr std::int64_t nobody = -3;
constexpr std::int64_t tester = -2;
constexpr std::int64_t server = -1;

std::string holder(std::int64_t client) {
  if (client == server) return "validation";
  return client == tester ? "test" : "client " + std::to_string(client);
}

class Holders {
 public:
  Holders(std::int64_t samples, bool overlap, const std::string& source)
      : overlap_(overlap), source_(source), of_(static_cast<std::size_t>(samples), nobody) {}

  void add(const IndexList& list, std::int64_t who) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] < 0 || list[i] >= std::ssize(of_)) {
        fail(who, i, list[i], "is not in the training set of " + std::to_string(of_.size()));
      }
      std::int64_t& other = of_[static_cast<std::size_t>(list[i])];
      if (other == who) fail(who, i, list[i], "is already in this list");
      if (other == server || other == tester) {
        fail(who, i, list[i],
             "is in " + holder(other) +
                 (who == tester ? ": nothing may be in both" : ": no client may train on it"));
      }
      if (other != nobody && !overlap_) {
        fail(who, i, list[i],
             "already belongs to " + holder(other) + "; partition.overlap = true would allow that");
      }
      other = who;
    }
  }

 private:
  [[noreturn]] void fail(std::int64_t who, std::size_t position, std::int64_t sample,
                         const std::string& what) const {
    throw DataError(source_ + ": " + holder(who) + at(position) + "sample " +
                    std::to_string(sample) + " " + what);
  }

  bool overlap_;
  std::string source_;
  std::vector<std::int64_t> of_;
};

constexpr int kDeepest = 32;  // of what is written deeper, printing a value overflows the stack

// The parser keeps the last of several values of a key, and says nothing; it takes any depth.
class Watch {
 public:
  explicit Watch(const std::string& path) : path_(path) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth >= kDeepest) {
      throw DataError(path_ + ": lists or objects nested deeper than " + std::to_string(kDeepest) +
                      " levels");
    }
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event != Event::key) return true;
    const auto key = parsed.get<std::string>();
    if (keys_.back().insert(key).second) return true;
    throw DataError(path_ + ": the key \"" + escaped(config::shortened(key)) + "\" is given twice");
  }

 private:
  std::string path_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

}  // namespace

Json read_json(const std::string& path) {
  const auto bytes = read_file_bytes(path);
  try {
    return Json::parse(bytes, Watch(path));
  } catch (const Json::exception& error) {  // a number that no double holds is no parse_error
    std::string reason = error.what();
    if (const auto end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
    constexpr std::size_t kLongest = 200;  // it cites the whole of a text that is not closed
    if (reason.size() > kLongest) reason.erase(std::min(reason.find("; last read"), kLongest));
    throw DataError(path + " is not JSON: " + escaped(reason));
  }
}

IndexList index_list(const Json& list, std::int64_t limit, const std::string& place,
                     const std::string& item) {
  if (!list.is_array()) {
    throw DataError(place + " must be a list of " + item + "s, but is " + list.type_name());
  }
  const auto fail = [&](std::size_t position, const std::string& what) {
    throw DataError(place + at(position) + what);
  };
  IndexList indexes;
  indexes.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& value = list[i];
    if (!value.is_number_integer()) fail(i, text(value) + " is not a whole number");
    if (!below(value, limit)) {
      fail(i, item + " " + text(value) + " does not exist: there are " + std::to_string(limit) +
                  ", counted from 0");
    }
    indexes.push_back(value.get<std::int64_t>());
  }
  if (const auto repeated = first_repeat(indexes); repeated < indexes.size()) {
    fail(repeated, item + " " + std::to_string(indexes[repeated]) + " is already in this list");
  }
  return indexes;
}

std::vector<IndexList> index_lists(const Json& lists, std::int64_t limit, const std::string& path,
                                   const std::string& owner, const std::string& item,
                                   std::size_t first) {
  if (!lists.is_array()) {
    throw DataError(path + " must hold a list of lists, one for each " + owner + ", but has " +
                    lists.type_name());
  }
  std::vector<IndexList> result;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::string place = path + ": " + owner + " " + std::to_string(first + i);
    result.push_back(index_list(lists[i], limit, place, item));
  }
  return result;
}

void check_disjoint(const std::vector<IndexList>& clients, const IndexList& validation,
                    const IndexList& test, std::int64_t samples, bool overlap,
                    const std::string& source) {
  Holders holders(samples, overlap, source);
  holders.add(validation, server);
  holders.add(test, tester);
  for (std::size_t k = 0; k < clients.size(); ++k) {
    holders.add(clients[k], static_cast<std::int64_t>(k));
  }
}

}  // namespace fedvg
