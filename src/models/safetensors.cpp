#include "models/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "config/toml_text.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::uint64_t kLongestHeader = 100'000'000;  // as the reference implementation
constexpr int kDeepest = 2;  // a shape, inside a tensor, inside the header
constexpr const char* kMetadata = "__metadata__";

// Of a shape, in bytes; empty where a dimension is negative or the product overflows, also
// where a zero hides that: the strides of such a tensor would.
std::optional<std::uint64_t> bytes_of(const std::vector<std::int64_t>& shape,
                                      std::int64_t number_size) {
  std::int64_t product = number_size;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    if (extent > 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::uint64_t>(product);
}

// For messages: of bounded length, on one line.
std::string shown(const std::string& name) {
  const std::string escaped = config::toml_string(config::shortened(name));
  return "'" + escaped.substr(1, escaped.size() - 2) + "'";
}
std::string shown(const Json& value) { return config::shortened(value.dump()); }

std::string header_of(const std::vector<const NamedArray*>& in_file_order,
                      const std::map<std::string, std::string>& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::uint64_t begin = 0;
  for (const NamedArray* tensor : in_file_order) {
    const auto size = bytes_of(tensor->shape, dtype_size(tensor->dtype));
    if (!size || *size != tensor->bytes.size()) {
      throw std::logic_error("safetensors: the bytes of '" + tensor->name +
                             "' do not fill its shape");
    }
    if (tensor->name == kMetadata || header.contains(tensor->name)) {
      throw std::logic_error("safetensors: a second '" + tensor->name + "'");
    }
    header[tensor->name] = {{"dtype", tensor->dtype},
                            {"shape", tensor->shape},
                            {"data_offsets", {begin, begin + tensor->bytes.size()}}};
    begin += tensor->bytes.size();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) {
    throw std::logic_error("safetensors: a name or the metadata is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLongestHeader) {
    throw std::logic_error("safetensors: a header of " + std::to_string(text.size()) +
                           " bytes, more than 100 MB");
  }
  return text;
}

// Whether the file looks like torch.save's: a zip archive whose first entry is NAME/data.pkl or
// lies in NAME/data/, or, of old, a pickle.
bool is_of_pytorch(const std::string& path) {
  constexpr std::size_t kName = 30;  // after a zip entry's fixed part
  std::string start(512, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  if (start.starts_with("PK\x03\x04")) return start.find("/data", kName) != std::string::npos;
  return start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
}

// One file while it is read; every refusal names it.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    const bool there = std::filesystem::exists(status);
    if (there && !std::filesystem::is_regular_file(status)) {  // opening a pipe would wait
      throw DataError(path + ": not a safetensors file: it is " +
                      (std::filesystem::is_directory(status) ? "a folder" : "not a plain file"));
    }
    in_.open(path, std::ios::binary);
    if (!in_) {
      throw DataError(path + ": cannot be opened: " + std::generic_category().message(errno));
    }
    in_.seekg(0, std::ios::end);
    const std::streamoff end = in_.tellg();
    if (!in_ || end < 0) refuse("its size cannot be found; not a plain file?");
    size_ = static_cast<std::uint64_t>(end);
    in_.seekg(0);
  }

  TensorFile read() {
    const Json header = read_header();
    TensorFile file;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata) {
        file.metadata = metadata_of(value);
      } else {
        entries.push_back(entry_of(name, value));
      }
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.begin, a.end, a.array.name) < std::tie(b.begin, b.end, b.array.name);
    });
    check_offsets(entries);
    for (Entry& entry : entries) {
      entry.array.bytes.resize(entry.end - entry.begin);
      get(entry.array.bytes.data(), entry.array.bytes.size());
      file.tensors.push_back(std::move(entry.array));
    }
    return file;
  }

 private:
  struct Entry {
    NamedArray array;
    std::uint64_t begin = 0, end = 0;  // after the header
  };

  [[noreturn]] void refuse(const std::string& what) const {
    if (is_of_pytorch(path_)) {
      throw DataError(path_ +
                      ": not a safetensors file but PyTorch's: python/convert_pth.py makes one of "
                      "it");
    }
    throw DataError(path_ + ": not a safetensors file: " + what);
  }

  template <class Byte>
  void get(Byte* to, std::uint64_t count) {
    in_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count));
    if (!in_) throw DataError(path_ + ": reading failed: it became shorter while it was read");
  }

  Json read_header() {
    if (size_ < 8) refuse("it has " + std::to_string(size_) + " bytes, fewer than 8");
    std::uint64_t length = 0;
    get(reinterpret_cast<char*>(&length), sizeof length);
    if (length > kLongestHeader) {
      refuse("its header would have " + std::to_string(length) + " bytes, more than 100 MB");
    }
    if (length > size_ - 8) {
      refuse("its header would have " + std::to_string(length) + " bytes, but only " +
             std::to_string(size_ - 8) + " follow; truncated?");
    }
    data_size_ = size_ - 8 - length;
    std::string text(length, '\0');
    get(text.data(), length);
    if (text.empty() || text.front() != '{') refuse("its header does not begin with '{'");

    try {
      return Json::parse(text, [this](int depth, Json::parse_event_t event, const Json& parsed) {
        watch(depth, event, parsed);
        return true;
      });
    } catch (const Json::parse_error& error) {
      refuse("its header is not JSON, at byte " + std::to_string(error.byte) + " of it");
    } catch (const Json::exception&) {
      refuse("its header is not JSON, or has a number that is too large");
    }
  }

  // While the header is parsed: what the parser would pass over, or what takes all stack later.
  void watch(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    const bool starts = event == Event::object_start || event == Event::array_start;
    if (starts && depth > kDeepest) {
      refuse("its header is nested too deep in " + shown(keys_.front().last));
    }
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event != Event::key) return;
    keys_.back().last = parsed.get<std::string>();
    if (keys_.back().seen.insert(keys_.back().last).second) return;
    refuse("its header names " + shown(keys_.back().last) + " twice" +
           (keys_.size() > 1 ? " in " + shown(keys_.front().last) : ""));
  }

  std::map<std::string, std::string> metadata_of(const Json& value) const {
    try {
      return value.get<std::map<std::string, std::string>>();
    } catch (const Json::exception&) {
      refuse("its __metadata__ is not a map from text to text");
    }
  }

  Entry entry_of(const std::string& name, const Json& value) const {
    const auto wrong = [&](const std::string& what) {
      refuse("tensor " + shown(name) + " " + what);
    };
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
        !value.contains("shape") || !value.contains("data_offsets")) {
      wrong("needs dtype, shape and data_offsets, and nothing else");
    }
    const auto whole_numbers = [&](const Json& list, const char* key) {
      if (!list.is_array()) wrong(std::string("has a ") + key + " that is not a list");
      std::vector<std::int64_t> numbers;
      for (const Json& number : list) {
        const bool fits =
            number.is_number_unsigned() && number.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
        if (!fits) {
          wrong(std::string("has a ") + key + " with " + shown(number) +
                ", which is no size that a file can have");
        }
        numbers.push_back(number.get<std::int64_t>());
      }
      return numbers;
    };
    Entry entry;
    entry.array.name = name;
    if (!value["dtype"].is_string() || dtype_size(value["dtype"].get<std::string>()) == 0) {
      wrong("has dtype " + shown(value["dtype"]) +
            "; known: F64, I64, F32, I32, F16, BF16, U8, BOOL");
    }
    entry.array.dtype = value["dtype"].get<std::string>();
    entry.array.shape = whole_numbers(value["shape"], "shape");
    const auto offsets = whole_numbers(value["data_offsets"], "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      wrong("has data_offsets " + shown(value["data_offsets"]) + ", not [begin, end]");
    }
    entry.begin = static_cast<std::uint64_t>(offsets[0]);
    entry.end = static_cast<std::uint64_t>(offsets[1]);
    const auto size = bytes_of(entry.array.shape, dtype_size(entry.array.dtype));
    if (!size || *size != entry.end - entry.begin) {
      wrong("of dtype " + entry.array.dtype + " and shape " + shown(value["shape"]) +
            " does not fill its data_offsets " + shown(value["data_offsets"]));
    }
    return entry;
  }

  void check_offsets(const std::vector<Entry>& entries) const {
    std::uint64_t expected = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != expected) {
        refuse("tensor " + shown(entry.array.name) + " begins at byte " +
               std::to_string(entry.begin) + " where " + std::to_string(expected) +
               " was due: tensors " + (entry.begin < expected ? "overlap" : "leave a gap"));
      }
      expected = entry.end;
    }
    if (expected != data_size_) {
      refuse("its tensors take " + std::to_string(expected) + " bytes, but " +
             std::to_string(data_size_) + " follow the header" +
             (data_size_ < expected ? "; truncated?" : ""));
    }
  }

  struct Keys {
    std::set<std::string> seen;
    std::string last;
  };

  std::string path_;
  std::ifstream in_;
  std::uint64_t size_ = 0, data_size_ = 0;
  std::vector<Keys> keys_;  // of the objects that are open
};

}  // namespace

std::int64_t dtype_size(const std::string& dtype) {
  struct Known {
    const char* name;
    std::int64_t size;
  };
  static constexpr std::array<Known, 8> kKnown = {{{"F64", 8},
                                                   {"I64", 8},
                                                   {"F32", 4},
                                                   {"I32", 4},
                                                   {"F16", 2},
                                                   {"BF16", 2},
                                                   {"U8", 1},
                                                   {"BOOL", 1}}};
  for (const Known& known : kKnown) {
    if (dtype == known.name) return known.size;
  }
  return 0;
}

void encode_safetensors(const std::vector<NamedArray>& tensors,
                        const std::map<std::string, std::string>& metadata,
                        const std::function<void(std::span<const std::byte>)>& sink) {
  std::vector<const NamedArray*> order;
  for (const NamedArray& tensor : tensors) {
    if (dtype_size(tensor.dtype) == 0) {
      throw std::logic_error("safetensors: '" + tensor.name + "' has dtype '" + tensor.dtype + "'");
    }
    order.push_back(&tensor);
  }
  std::stable_sort(order.begin(), order.end(), [](const NamedArray* a, const NamedArray* b) {
    return dtype_size(a->dtype) > dtype_size(b->dtype);
  });
  const std::string header = header_of(order, metadata);
  const std::uint64_t length = header.size();
  sink(std::as_bytes(std::span(&length, 1)));
  sink(std::as_bytes(std::span(header)));
  for (const NamedArray* tensor : order) {
    if (!tensor->bytes.empty()) sink(tensor->bytes);
  }
}

TensorFile read_safetensors(const std::string& path) { return Reader(path).read(); }

}  // namespace fedvg
