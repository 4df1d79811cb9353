#include "engine/client_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "data/write_all.h"
#include "engine/named_arrays.h"
#include "fedvg/error.h"
#include "models/sealed_file.h"

namespace fedvg {
namespace {

constexpr const char* kCorrection = "correction.";
constexpr const char* kOptimizer = "optimizer.";
constexpr const char* kBuffer = "buffer.";

constexpr std::size_t kSyncedOneByOne = 64;  // more files: the whole file system at once

// "client-12-round-3.safetensors"
constexpr const char* kClient = "client-";
constexpr const char* kRound = "-round-";
constexpr const char* kExtension = ".safetensors";

/// Client and round of a file; absent: not one of ours.
std::optional<std::pair<std::int64_t, std::int64_t>> key_of(const std::string& name) {
  const auto number_after = [&](const char* prefix, std::size_t& at) -> std::int64_t {
    if (name.compare(at, std::strlen(prefix), prefix) != 0) return -1;
    at += std::strlen(prefix);
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), number);
    at = static_cast<std::size_t>(end - name.data());
    return error == std::errc() ? number : -1;
  };
  std::size_t at = 0;
  const std::int64_t client = number_after(kClient, at);
  const std::int64_t round = client < 0 ? -1 : number_after(kRound, at);
  if (round < 0 || name.substr(at) != kExtension) return std::nullopt;
  return std::pair(client, round);
}

std::int64_t bytes_of(const ClientState& state) {
  std::int64_t bytes = 0;
  for (const TensorMap* part : {&state.correction, &state.optimizer}) {
    for (const auto& [name, tensor] : *part) bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  for (const auto& buffer : state.buffers) bytes += static_cast<std::int64_t>(buffer.nbytes());
  return bytes;
}

[[noreturn]] void cannot_keep(const std::filesystem::path& path, int error) {
  throw RunError(path.string() + ": cannot keep a client's state: " + std::strerror(error) +
                 "; free the disk, or, where no checkpoint needs it, raise engine.state_memory");
}

void write(const ClientState& state, const std::filesystem::path& path) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : state.correction) {
    arrays.push_back(to_array(kCorrection + name, tensor));
  }
  for (const auto& [name, tensor] : state.optimizer) {
    arrays.push_back(to_array(kOptimizer + name, tensor));
  }
  for (std::size_t i = 0; i < state.buffers.size(); ++i) {
    arrays.push_back(to_array(kBuffer + std::to_string(i), state.buffers[i]));
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_keep(path, errno);
  int error = 0;
  encode_safetensors(arrays, sealed(arrays, {}), [&](std::span<const std::byte> bytes) {
    if (error == 0) error = write_all(descriptor, bytes);
  });
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0) return;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // half of a state
  cannot_keep(path, error);
}

/// A file's content, or a folder's names, onto the disk, or all that its file system holds back.
void sync(const std::filesystem::path& path, int (*how)(int) = ::fsync) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && how(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) cannot_keep(path, error);
}

ClientState read(const std::filesystem::path& path) {
  ClientState state;
  std::map<std::size_t, at::Tensor> buffers;
  for (const auto& array : read_sealed(path.string()).tensors) {
    if (array.name.rfind(kCorrection, 0) == 0) {
      state.correction[array.name.substr(std::strlen(kCorrection))] = to_tensor(array);
    } else if (array.name.rfind(kOptimizer, 0) == 0) {
      state.optimizer[array.name.substr(std::strlen(kOptimizer))] = to_tensor(array);
    } else {
      buffers[std::stoul(array.name.substr(std::strlen(kBuffer)))] = to_tensor(array);
    }
  }
  for (auto& [index, buffer] : buffers) state.buffers.push_back(std::move(buffer));
  return state;
}

}  // namespace

ClientState ClientState::to(at::Device device) const {
  ClientState moved = *this;
  for (TensorMap* part : {&moved.correction, &moved.optimizer}) {
    for (auto& [name, tensor] : *part) tensor = tensor.to(device);
  }
  for (auto& buffer : moved.buffers) buffer = buffer.to(device);
  return moved;
}

ClientStateStore::ClientStateStore(std::int64_t memory, std::filesystem::path folder)
    : memory_(memory), folder_(std::move(folder)) {}

ClientStateStore::~ClientStateStore() {
  std::error_code ignored;
  if (made_folder_ && kept_.empty()) {
    std::filesystem::remove_all(folder_, ignored);
    return;
  }
  forget_all();
}

std::filesystem::path ClientStateStore::file_of(const Key& key) const {
  return folder_ /
         (kClient + std::to_string(key.first) + kRound + std::to_string(key.second) + kExtension);
}

ClientState ClientStateStore::get(std::int64_t client) {
  const std::lock_guard lock(mutex_);
  const auto round = published_.find(client);
  if (round == published_.end()) return {};
  const Key key{client, round->second};
  Entry& entry = entries_.at(key);
  if (!entry.in_memory) {
    try {
      return read(file_of(key));
    } catch (const DataError& error) {
      throw DamagedState(error.what(), {client, round->second, entry.bytes});
    }
  }
  recent_.splice(recent_.end(), recent_, entry.use);
  return entry.state;
}

std::int64_t ClientStateStore::version(std::int64_t client) const {
  const std::lock_guard lock(mutex_);
  const auto round = published_.find(client);
  return round == published_.end() ? 0 : round->second;
}

void ClientStateStore::put(std::int64_t client, std::int64_t round, const ClientState& state) {
  const std::lock_guard lock(mutex_);
  remember({client, round}, state, bytes_of(state));
  pending_[round].insert(client);
  spill();
}

void ClientStateStore::remember(const Key& key, ClientState state, std::int64_t bytes) {
  forget(key);
  recent_.push_back(key);
  entries_[key] = {.state = std::move(state), .bytes = bytes, .use = std::prev(recent_.end())};
  in_memory_ += bytes;
}

void ClientStateStore::forget(const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  if (found->second.has_file) remove_file(key);
  if (found->second.in_memory) {
    recent_.erase(found->second.use);
    in_memory_ -= found->second.bytes;
  } else {
    on_disk_ -= found->second.bytes;
  }
  entries_.erase(found);
}

void ClientStateStore::forget_all() {
  while (!entries_.empty()) forget(entries_.begin()->first);
  published_.clear();
  pending_.clear();
}

void ClientStateStore::remove_file(const Key& key) {
  if (kept_.contains(key)) return;
  std::error_code ignored;
  std::filesystem::remove(file_of(key), ignored);
}

void ClientStateStore::make_folder() {
  if (made_folder_) return;
  if (!folder_.empty()) {
    std::error_code problem;
    made_folder_ = std::filesystem::create_directories(folder_, problem);
    if (made_folder_ && folder_.has_parent_path()) sync(folder_.parent_path());
    if (!problem) return;
    throw RunError(folder_.string() +
                   ": cannot make a folder for clients' states: " + problem.message());
  }
  std::string name = (std::filesystem::temp_directory_path() / "fedvg-state-XXXXXX").string();
  if (!mkdtemp(name.data())) {
    throw RunError(name + ": cannot make a folder for clients' states: " + std::strerror(errno));
  }
  folder_ = name;
  made_folder_ = true;
}

void ClientStateStore::spill() {
  while (in_memory_ > memory_ && !recent_.empty()) {
    make_folder();
    const Key key = recent_.front();
    Entry& entry = entries_.at(key);
    if (!entry.has_file) write(entry.state, file_of(key));
    recent_.pop_front();
    entry.state = {};
    entry.has_file = true;
    entry.in_memory = false;
    in_memory_ -= entry.bytes;
    on_disk_ += entry.bytes;
  }
}

void ClientStateStore::publish(std::int64_t round, const std::set<std::int64_t>& accepted) {
  const std::lock_guard lock(mutex_);
  for (const std::int64_t client : pending_[round]) {
    if (!accepted.contains(client)) {
      forget({client, round});
      continue;
    }
    const auto before = published_.find(client);
    if (before != published_.end() && before->second != round) forget({client, before->second});
    published_[client] = round;
  }
  pending_.erase(round);
}

void ClientStateStore::drop(std::int64_t round) {
  const std::lock_guard lock(mutex_);
  for (const std::int64_t client : pending_[round]) forget({client, round});
  pending_.erase(round);
}

std::vector<ClientVersion> ClientStateStore::save() {
  const std::lock_guard lock(mutex_);
  std::vector<ClientVersion> versions;
  for (const auto& [client, round] : published_) {
    const Key key{client, round};
    Entry& entry = entries_.at(key);
    versions.push_back({client, round, entry.bytes});
    if (!entry.has_file) {
      make_folder();
      write(entry.state, file_of(key));
      entry.has_file = true;
    }
  }
  // After all are written: the disk takes them together.
  std::vector<std::pair<const Key, Entry>*> written;
  for (const ClientVersion& version : versions) {
    auto& entry = *entries_.find({version.client, version.round});
    if (!entry.second.is_synced) written.push_back(&entry);
  }
  if (written.size() > kSyncedOneByOne) {
    sync(folder_, ::syncfs);
  } else {
    for (const auto* entry : written) sync(file_of(entry->first));
    if (!written.empty()) sync(folder_);
  }
  for (auto* entry : written) entry->second.is_synced = true;
  return versions;
}

void ClientStateStore::keep(const std::vector<ClientVersion>& named) {
  const std::lock_guard lock(mutex_);
  std::set<Key> before;
  before.swap(kept_);
  for (const ClientVersion& version : named) kept_.insert({version.client, version.round});
  for (const Key& key : before) {
    if (!entries_.contains(key)) remove_file(key);
  }
}

void ClientStateStore::restore(const std::vector<ClientVersion>& versions) {
  const std::lock_guard lock(mutex_);
  forget_all();
  std::map<Key, std::int64_t> there;  // sizes
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder_, error)) {
    if (const auto key = key_of(file.path().filename().string())) {
      there[*key] = static_cast<std::int64_t>(file.file_size(error));
    }
  }
  for (const ClientVersion& version : versions) {
    const Key key{version.client, version.round};
    const auto found = there.find(key);
    if (found == there.end() || found->second < version.bytes) {
      throw DataError(file_of(key).string() +
                      (found == there.end() ? ": missing" : ": too short, damaged") +
                      ": it is a client's state that a checkpoint names");
    }
  }
  for (const ClientVersion& version : versions) {
    const Key key{version.client, version.round};
    entries_[key] = {.state = {},
                     .bytes = version.bytes,
                     .in_memory = false,
                     .has_file = true,
                     .is_synced = true,
                     .use = recent_.end()};
    published_[version.client] = version.round;
    on_disk_ += version.bytes;
  }
  for (const auto& [key, size] : there) {
    if (!entries_.contains(key)) remove_file(key);
  }
}

std::int64_t ClientStateStore::bytes_in_memory() const {
  const std::lock_guard lock(mutex_);
  return in_memory_;
}

std::int64_t ClientStateStore::bytes_on_disk() const {
  const std::lock_guard lock(mutex_);
  return on_disk_;
}

}  // namespace fedvg
