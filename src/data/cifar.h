#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

/// The official binary layouts (Krizhevsky, 2009): records of one label byte (CIFAR-10), or of
/// a coarse and a fine one (CIFAR-100), and 3072 pixels, [3, 32, 32] in the order R, G, B.
enum class CifarLayout { cifar10, cifar100 };
/// Which of CIFAR-100's labels count: 100 fine or 20 coarse ones. CIFAR-10's are all there is.
enum class CifarLabels { fine, coarse };

constexpr std::int64_t cifar_pixels = 3 * 32 * 32;
/// Bytes of a record: 3073 or 3074.
std::int64_t cifar_record_bytes(CifarLayout layout);
/// "CIFAR-10", "CIFAR-100": for messages.
std::string cifar_name(CifarLayout layout);

/// Decodes whole records: pixels to `pixels` (3072 a record), labels to `labels`. Record 0 is
/// number `first` of the file `name`. Throws DataError naming file and record of a label byte
/// that no class has.
void decode_cifar(std::span<const std::uint8_t> records, CifarLayout layout, CifarLabels kind,
                  const std::string& name, std::int64_t first, std::span<std::uint8_t> pixels,
                  std::span<std::int64_t> labels);

/// All records of the files, one file after the other; several are read at a time, straight
/// into the samples. Throws DataError naming the file that is missing, empty, cut off within a
/// record or something else (saying what), or whose labels are out of range; the first of
/// them, whatever the number of threads.
Samples read_cifar_files(const std::vector<std::filesystem::path>& files, CifarLayout layout,
                         CifarLabels kind = CifarLabels::fine);

/// Names of the classes: from the file of names in `folder` (batches.meta.txt,
/// fine_label_names.txt, coarse_label_names.txt; empty lines do not count), else the official
/// ones. Throws DataError when a file does not hold 10, 100 or 20 names.
std::vector<std::string> cifar_classes(const std::filesystem::path& folder, CifarLayout layout,
                                       CifarLabels kind = CifarLabels::fine);

/// The layout of a single file: whose record size divides its length and whose label bytes
/// are all in range; none when it is neither.
std::optional<CifarLayout> cifar_layout_of(const std::filesystem::path& file);

/// Reads the folder of a set: data_batch_1.bin to data_batch_5.bin and test_batch.bin, or
/// train.bin and test.bin. Everything but `name` is filled in; another number of samples than
/// the official set has becomes a note. Throws DataError, for a missing file with what the
/// folder is instead.
Dataset read_cifar_folder(const std::filesystem::path& folder, CifarLayout layout,
                          CifarLabels kind = CifarLabels::fine);

}  // namespace fedvg
