#include "data/cifar.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <system_error>

#include "data/cifar_classes.h"
#include "data/file_bytes.h"
#include "data/folder_content.h"
#include "data/parallel_loop.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using Path = std::filesystem::path;

// Label bytes of a record and how many classes each tells apart.
struct LabelByte {
  std::size_t offset;
  std::int64_t classes;
  const char* what;
};

std::vector<LabelByte> label_bytes(CifarLayout layout) {
  if (layout == CifarLayout::cifar10) return {{0, 10, "label"}};
  return {{0, 20, "coarse label"}, {1, 100, "fine label"}};
}

std::vector<Path> training_files(CifarLayout layout) {
  if (layout == CifarLayout::cifar100) return {"train.bin"};
  return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
          "data_batch_5.bin"};
}

Path test_file(CifarLayout layout) {
  return layout == CifarLayout::cifar10 ? "test_batch.bin" : "test.bin";
}

// What a file of the wrong length is.
[[noreturn]] void refuse_length(const Path& file, CifarLayout layout, std::int64_t bytes) {
  const std::string content = describe_file(file);
  const std::int64_t record = cifar_record_bytes(layout);
  const std::string wanted =
      "records of " + cifar_name(layout) + " (" + std::to_string(record) + " bytes each)";
  if (!content.starts_with("unknown")) {
    const bool packed = content.ends_with("archive") || content.ends_with("data");
    throw DataError(file.string() + " is " + content + ", not " + wanted +
                    (packed ? ": unpack it first" : "; get the binary version of the set"));
  }
  const auto other = layout == CifarLayout::cifar10 ? CifarLayout::cifar100 : CifarLayout::cifar10;
  if (bytes % cifar_record_bytes(other) == 0) {
    throw DataError(file.string() + " does not hold " + wanted + ", but by its length those of " +
                    cifar_name(other));
  }
  throw DataError(file.string() + " is truncated or not " + wanted + ": its " +
                  std::to_string(bytes) + " bytes are " + std::to_string(bytes / record) +
                  " records and " + std::to_string(bytes % record) + " bytes; get the file again");
}

std::int64_t count_records(const Path& file, CifarLayout layout) {
  const auto bytes = static_cast<std::int64_t>(file_bytes(file));
  if (bytes == 0) throw DataError(file.string() + " is empty (0 bytes); get the file again");
  if (bytes % cifar_record_bytes(layout) != 0) refuse_length(file, layout, bytes);
  return bytes / cifar_record_bytes(layout);
}

// Part of the samples that one file fills.
struct Piece {
  Path file;
  std::int64_t first = 0, records = 0;
};

void read_piece(const Piece& piece, CifarLayout layout, CifarLabels kind, Samples& samples) {
  constexpr std::int64_t records_at_once = 256;
  const std::int64_t record = cifar_record_bytes(layout);
  std::ifstream stream(piece.file, std::ios::binary);
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(records_at_once * record));
  for (std::int64_t done = 0; done < piece.records;) {
    const std::int64_t count = std::min(records_at_once, piece.records - done);
    const auto bytes = static_cast<std::streamsize>(count * record);
    stream.read(reinterpret_cast<char*>(buffer.data()), bytes);
    if (stream.gcount() != bytes) {
      throw DataError(piece.file.string() + " cannot be read: it ends within record " +
                      std::to_string(done + stream.gcount() / record));
    }
    const auto first = static_cast<std::size_t>(piece.first + done);
    const auto number = static_cast<std::size_t>(count);
    decode_cifar(std::span(buffer).first(static_cast<std::size_t>(bytes)), layout, kind,
                 piece.file.string(), done,
                 std::span(samples.pixels).subspan(first * cifar_pixels, number * cifar_pixels),
                 std::span(samples.labels).subspan(first, number));
    done += count;
  }
}

bool has_file(const Path& folder, const Path& name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / name, ignored);
}

// For a folder without the files of the set: what it is instead.
[[noreturn]] void refuse_folder(const Path& folder, CifarLayout layout, const Path& missing) {
  const auto other = layout == CifarLayout::cifar10 ? CifarLayout::cifar100 : CifarLayout::cifar10;
  std::string hint;
  std::error_code ignored;
  for (const char* below : {"cifar-10-batches-bin", "cifar-100-binary"}) {
    if (std::filesystem::is_directory(folder / below, ignored)) {
      hint = ": data.path is the folder " + std::string(below) + " in it";
    }
  }
  if (has_file(folder, training_files(other).front())) {
    hint = ": these are the files of " + cifar_name(other);
  } else if (has_file(folder, missing.stem()) || has_file(folder, "train")) {
    hint = ": these are the files of the Python version; get the binary version";
  } else if (has_file(folder, "cifar-10-binary.tar.gz") ||
             has_file(folder, "cifar-100-binary.tar.gz")) {
    hint = ": unpack the archive in it";
  }
  throw DataError(folder.string() + " has no " + missing.string() + ", as the binary version of " +
                  cifar_name(layout) + " has" + hint);
}

void note_count(const Samples& samples, std::int64_t official, const std::string& part,
                Dataset& dataset) {
  if (samples.size() == official) return;
  dataset.notes.push_back(dataset.source + ": the " + part + " set has " +
                          std::to_string(samples.size()) + " images, the official one " +
                          std::to_string(official));
}

}  // namespace

std::int64_t cifar_record_bytes(CifarLayout layout) {
  return cifar_pixels + std::ssize(label_bytes(layout));
}

std::string cifar_name(CifarLayout layout) {
  return layout == CifarLayout::cifar10 ? "CIFAR-10" : "CIFAR-100";
}

void decode_cifar(std::span<const std::uint8_t> records, CifarLayout layout, CifarLabels kind,
                  const std::string& name, std::int64_t first, std::span<std::uint8_t> pixels,
                  std::span<std::int64_t> labels) {
  const auto bytes = label_bytes(layout);
  const auto record_bytes = static_cast<std::size_t>(cifar_record_bytes(layout));
  const std::size_t counted = layout == CifarLayout::cifar100 && kind == CifarLabels::fine ? 1 : 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto record = records.subspan(i * record_bytes, record_bytes);
    for (const auto& [offset, classes, what] : bytes) {
      if (record[offset] < classes) continue;
      throw DataError(name + " has " + what + " " + std::to_string(record[offset]) + " at record " +
                      std::to_string(first + static_cast<std::int64_t>(i)) +
                      " (counted from 0), but " + cifar_name(layout) + " has " +
                      std::to_string(classes) + " classes: it is damaged or another set");
    }
    labels[i] = record[counted];
    std::copy_n(record.begin() + static_cast<std::ptrdiff_t>(bytes.size()), cifar_pixels,
                pixels.begin() + static_cast<std::ptrdiff_t>(i) * cifar_pixels);
  }
}

Samples read_cifar_files(const std::vector<Path>& files, CifarLayout layout, CifarLabels kind) {
  std::vector<Piece> pieces;
  std::int64_t total = 0;
  for (const Path& file : files) {
    pieces.push_back({.file = file, .first = total, .records = count_records(file, layout)});
    total += pieces.back().records;
  }
  Samples samples{.channels = 3, .height = 32, .width = 32};
  samples.labels.resize(static_cast<std::size_t>(total));
  samples.pixels.resize(static_cast<std::size_t>(total * cifar_pixels));
  parallel_loop(std::ssize(pieces), [&](std::int64_t i) {
    read_piece(pieces[static_cast<std::size_t>(i)], layout, kind, samples);
  });
  return samples;
}

std::vector<std::string> cifar_classes(const Path& folder, CifarLayout layout, CifarLabels kind) {
  const auto official = official_cifar_classes(layout, kind);
  const Path file = folder / (layout == CifarLayout::cifar10 ? "batches.meta.txt"
                              : kind == CifarLabels::fine    ? "fine_label_names.txt"
                                                             : "coarse_label_names.txt");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return official;
  std::ifstream stream(file);
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) names.push_back(line);
  }
  if (names.size() == official.size()) return names;
  throw DataError(file.string() + " holds " + std::to_string(names.size()) + " names, but " +
                  cifar_name(layout) + " has " + std::to_string(official.size()) +
                  " classes; get the file again, or remove it to have the official names");
}

std::optional<CifarLayout> cifar_layout_of(const Path& file) {
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  if (error || bytes == 0) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  const auto in_range = [&](CifarLayout layout, std::int64_t record) {
    std::array<char, 2> head{};
    stream.seekg(record * cifar_record_bytes(layout));
    stream.read(head.data(), head.size());
    return stream && std::ranges::all_of(label_bytes(layout), [&](const LabelByte& byte) {
             return static_cast<std::uint8_t>(head[byte.offset]) < byte.classes;
           });
  };
  for (const CifarLayout layout : {CifarLayout::cifar10, CifarLayout::cifar100}) {
    if (bytes % cifar_record_bytes(layout) != 0) continue;
    const std::int64_t records = bytes / cifar_record_bytes(layout);
    std::int64_t record = 0;
    while (record < records && in_range(layout, record)) ++record;
    if (record == records) return layout;
  }
  return std::nullopt;
}

Dataset read_cifar_folder(const Path& folder, CifarLayout layout, CifarLabels kind) {
  std::vector<Path> files = training_files(layout);
  const Path test = test_file(layout);
  require_folder(folder, "the folder of " + files.front().string() +
                             " and the other files of the "
                             "binary version of " +
                             cifar_name(layout));
  for (const Path& file : files) {
    if (!has_file(folder, file)) refuse_folder(folder, layout, file);
  }
  if (!has_file(folder, test)) refuse_folder(folder, layout, test);
  for (Path& file : files) file = folder / file;

  Dataset dataset;
  dataset.source = folder.string();
  dataset.classes = cifar_classes(folder, layout, kind);
  dataset.training = read_cifar_files(files, layout, kind);
  dataset.test = read_cifar_files({folder / test}, layout, kind);
  note_count(dataset.training, 50'000, "training", dataset);
  note_count(dataset.test, 10'000, "test", dataset);
  return dataset;
}

}  // namespace fedvg
