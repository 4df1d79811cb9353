#include "engine/client_state.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "engine/named_arrays.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr const char* kCorrection = "correction.";
constexpr const char* kOptimizer = "optimizer.";
constexpr const char* kBuffer = "buffer.";

std::int64_t bytes_of(const ClientState& state) {
  std::int64_t bytes = 0;
  for (const TensorMap* part : {&state.correction, &state.optimizer}) {
    for (const auto& [name, tensor] : *part) bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  for (const auto& buffer : state.buffers) bytes += static_cast<std::int64_t>(buffer.nbytes());
  return bytes;
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
  std::ofstream file(path, std::ios::binary);
  encode_safetensors(arrays, {}, [&](std::span<const std::byte> bytes) {
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  });
  file.close();
  if (!file) {
    throw RunError(path.string() + ": cannot keep a client's state: " + std::strerror(errno) +
                   "; raise engine.state_memory or free the disk");
  }
}

ClientState read(const std::filesystem::path& path) {
  ClientState state;
  std::map<std::size_t, at::Tensor> buffers;
  for (const auto& array : read_safetensors(path.string()).tensors) {
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
  if (made_folder_) {
    std::filesystem::remove_all(folder_, ignored);
    return;
  }
  for (const auto& [key, entry] : entries_) {
    if (entry.on_disk) std::filesystem::remove(file_of(key), ignored);
  }
}

std::filesystem::path ClientStateStore::file_of(const Key& key) const {
  return folder_ / ("client-" + std::to_string(key.first) + "-round-" + std::to_string(key.second) +
                    ".safetensors");
}

ClientState ClientStateStore::get(std::int64_t client) {
  const std::lock_guard lock(mutex_);
  const auto round = published_.find(client);
  if (round == published_.end()) return {};
  const Key key{client, round->second};
  Entry& entry = entries_.at(key);
  if (entry.on_disk) return read(file_of(key));
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
  entries_[key] = {std::move(state), bytes, false, std::prev(recent_.end())};
  in_memory_ += bytes;
}

void ClientStateStore::forget(const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  if (found->second.on_disk) {
    std::error_code ignored;
    std::filesystem::remove(file_of(key), ignored);
    on_disk_ -= found->second.bytes;
  } else {
    recent_.erase(found->second.use);
    in_memory_ -= found->second.bytes;
  }
  entries_.erase(found);
}

void ClientStateStore::make_folder() {
  if (made_folder_) return;
  if (!folder_.empty()) {
    std::error_code problem;
    made_folder_ = std::filesystem::create_directories(folder_, problem);
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
    write(entry.state, file_of(key));
    recent_.pop_front();
    entry.state = {};
    entry.on_disk = true;
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

std::int64_t ClientStateStore::bytes_in_memory() const {
  const std::lock_guard lock(mutex_);
  return in_memory_;
}

std::int64_t ClientStateStore::bytes_on_disk() const {
  const std::lock_guard lock(mutex_);
  return on_disk_;
}

}  // namespace fedvg
