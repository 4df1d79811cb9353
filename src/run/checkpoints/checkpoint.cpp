#include "run/checkpoints/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <system_error>

#include "fedvg/error.h"
#include "models/sealed_file.h"
#include "run/tensor_file.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRound = "round-";
constexpr const char* kBest = "best-round-";
constexpr const char* kExtension = ".safetensors";
constexpr const char* kVersion = "1";  // of the content of a checkpoint

// Clients' versions as three columns beside the engine's arrays.
constexpr const char* kClients = "clients.client";
constexpr const char* kClientRounds = "clients.round";
constexpr const char* kClientBytes = "clients.bytes";

std::string padded(std::int64_t round) {
  const std::string digits = std::to_string(round);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
}

/// Of a file "PREFIX000012.safetensors"; absent: it is none.
std::optional<std::int64_t> round_in(const std::string& name, const char* prefix) {
  std::int64_t round = 0;
  const std::size_t begin = std::strlen(prefix);
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), round);
  if (error != std::errc() || std::string(end, name.data() + name.size()) != kExtension) {
    return std::nullopt;
  }
  return round;
}

/// Newest first. Throws RunError when a folder that is there cannot be read.
std::vector<std::int64_t> rounds_in(const fs::path& folder, const char* prefix) {
  std::vector<std::int64_t> rounds;
  std::error_code error;
  fs::directory_iterator file(folder, error);
  while (!error && file != fs::directory_iterator()) {
    if (const auto round = round_in(file->path().filename().string(), prefix)) {
      rounds.push_back(*round);
    }
    file.increment(error);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw RunError(folder.string() + ": cannot be read: " + error.message());
  }
  std::ranges::sort(rounds, std::greater());
  return rounds;
}

template <class Member>
NamedArray column(const char* name, const std::vector<ClientVersion>& versions, Member member) {
  NamedArray array{name, "I64", {std::ssize(versions)}, {}};
  for (const ClientVersion& version : versions) {
    const auto bytes = std::as_bytes(std::span(&(version.*member), 1));
    array.bytes.insert(array.bytes.end(), bytes.begin(), bytes.end());
  }
  return array;
}

/// Takes the column out of the arrays.
std::vector<std::int64_t> take_column(const char* name, std::vector<NamedArray>& arrays) {
  const auto found = std::ranges::find(arrays, name, &NamedArray::name);
  if (found == arrays.end() || found->dtype != "I64") {
    throw DataError(std::string("no column ") + name);
  }
  std::vector<std::int64_t> numbers(found->bytes.size() / sizeof(std::int64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), found->bytes.data(), found->bytes.size());
  arrays.erase(found);
  return numbers;
}

void write_sealed(const fs::path& path, const std::vector<NamedArray>& tensors,
                  std::map<std::string, std::string> metadata) {
  write_tensor_file(path, tensors, sealed(tensors, std::move(metadata)));
}

/// A file that cannot be opened is not damaged.
void check_readable(const fs::path& path) {
  errno = 0;
  if (std::ifstream(path) || errno == ENOENT) return;
  throw RunError(path.string() + ": cannot be opened: " + std::generic_category().message(errno));
}

Checkpoint read_checkpoint(const fs::path& path, std::int64_t round) {
  TensorFile file = read_sealed(path.string());
  const auto value_of = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found != file.metadata.end() ? found->second : "";
  };
  const std::string version = value_of("version");
  if (version != kVersion && !version.empty()) {
    throw RunError(path.string() + ": a checkpoint in form " + version + ", which this version " +
                   "of fedvg does not read (it writes " + kVersion +
                   "); continue the run with the version that began it");
  }
  if (version.empty() || value_of("round") != std::to_string(round)) {
    throw DataError(path.string() + ": not a checkpoint of round " + std::to_string(round));
  }
  Checkpoint checkpoint{.round = round,
                        .best = std::stoll(file.metadata.at("best")),
                        .progress = file.metadata.at("progress"),
                        .federation = {}};
  const auto clients = take_column(kClients, file.tensors);
  const auto rounds = take_column(kClientRounds, file.tensors);
  const auto bytes = take_column(kClientBytes, file.tensors);
  if (rounds.size() != clients.size() || bytes.size() != clients.size()) {
    throw DataError(path.string() + ": columns of clients' states differ in length");
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    checkpoint.federation.clients.push_back({clients[i], rounds[i], bytes[i]});
  }
  checkpoint.federation.arrays = std::move(file.tensors);
  return checkpoint;
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, std::int64_t keep)
    : folder_(std::move(folder)), keep_(static_cast<std::size_t>(keep)) {}

fs::path CheckpointFolder::file_of(std::int64_t round) const {
  return folder_ / (kRound + padded(round) + kExtension);
}

fs::path CheckpointFolder::best_file_of(std::int64_t round) const {
  return folder_ / (kBest + padded(round) + kExtension);
}

TensorFile CheckpointFolder::read_best(std::int64_t round) const {
  return read_sealed(best_file_of(round).string());
}

void CheckpointFolder::set_aside(const ClientVersion& damaged) {
  std::vector<Kept> others;
  for (Kept& kept : kept_) {
    if (std::ranges::find(kept.clients, damaged) == kept.clients.end()) {
      others.push_back(std::move(kept));
      continue;
    }
    std::error_code error;
    fs::rename(file_of(kept.round), file_of(kept.round).string() + ".damaged", error);
  }
  take_stock(std::move(others));
}

void CheckpointFolder::take_stock(std::vector<Kept> kept) {
  kept_ = std::move(kept);
  clients_.clear();
  for (const Kept& one : kept_) {
    clients_.insert(clients_.end(), one.clients.begin(), one.clients.end());
  }
  std::ranges::sort(clients_);
  clients_.erase(std::unique(clients_.begin(), clients_.end()), clients_.end());
}

std::vector<std::int64_t> CheckpointFolder::whole_ones(
    const std::function<void(const std::string&)>& damaged) {
  std::vector<std::int64_t> rounds;
  std::vector<Kept> kept;
  for (const std::int64_t round : rounds_in(folder_, kRound)) {
    try {
      Checkpoint checkpoint = read(round);
      if (checkpoint.best > 0) {
        check_readable(best_file_of(checkpoint.best));
        read_best(checkpoint.best);
      }
      kept.push_back({round, checkpoint.best, std::move(checkpoint.federation.clients)});
      rounds.push_back(round);
    } catch (const DataError& error) {
      damaged(error.what());
    }
  }
  take_stock(std::move(kept));
  return rounds;
}

Checkpoint CheckpointFolder::read(std::int64_t round) const {
  check_readable(file_of(round));
  return read_checkpoint(file_of(round), round);
}

void CheckpointFolder::write(const Checkpoint& checkpoint,
                             const std::function<std::vector<NamedArray>()>& best_model,
                             const std::map<std::string, std::string>& best_metadata) {
  std::error_code error;
  const bool made = fs::create_directories(folder_, error);
  if (error) throw RunError(folder_.string() + ": cannot be created: " + error.message());
  if (made) sync_folder(folder_.parent_path());
  // One that is there and that no whole checkpoint names may be damaged.
  const bool has_best = std::ranges::find(kept_, checkpoint.best, &Kept::best) != kept_.end() &&
                        fs::exists(best_file_of(checkpoint.best), error);
  if (checkpoint.best > 0 && !has_best) {
    write_sealed(best_file_of(checkpoint.best), best_model(), best_metadata);
  }
  std::vector<NamedArray> arrays = checkpoint.federation.arrays;
  const auto& clients = checkpoint.federation.clients;
  arrays.push_back(column(kClients, clients, &ClientVersion::client));
  arrays.push_back(column(kClientRounds, clients, &ClientVersion::round));
  arrays.push_back(column(kClientBytes, clients, &ClientVersion::bytes));
  write_sealed(file_of(checkpoint.round), arrays,
               {{"version", kVersion},
                {"round", std::to_string(checkpoint.round)},
                {"best", std::to_string(checkpoint.best)},
                {"progress", checkpoint.progress}});

  std::vector<Kept> kept{{checkpoint.round, checkpoint.best, clients}};
  for (Kept& before : kept_) {
    if (before.round < checkpoint.round && kept.size() < keep_) kept.push_back(std::move(before));
  }
  take_stock(std::move(kept));
  const auto named = [&](std::int64_t round, std::int64_t Kept::*by) {
    return std::ranges::find(kept_, round, by) != kept_.end();
  };
  for (const auto round : rounds_in(folder_, kRound)) {
    if (!named(round, &Kept::round)) fs::remove(file_of(round), error);
  }
  fs::remove(file_of(checkpoint.round).string() + ".damaged", error);
  for (const auto round : rounds_in(folder_, kBest)) {
    if (!named(round, &Kept::best)) fs::remove(best_file_of(round), error);
  }
}

}  // namespace fedvg
