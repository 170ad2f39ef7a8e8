#include "simulated_disk.h"

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>

namespace cpt {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

// The bytes left of a file whose synced bytes are `synced` and whose current bytes are `now`.
Bytes surviving_bytes(const Bytes& synced, const Bytes& now, Survival::Bytes survival, std::mt19937& random) {
  if (synced == now) return now;
  if (survival == Survival::Bytes::kAll) return now;
  if (survival == Survival::Bytes::kNone) return synced;
  if (survival == Survival::Bytes::kZeroed) {
    Bytes zeroed = synced;
    zeroed.resize(now.size());
    return zeroed;
  }
  switch (random() % 4) {
    case 0:
      return now;
    case 1:
      return synced;
    case 2:
      return surviving_bytes(synced, now, Survival::Bytes::kZeroed, random);
    default:
      return {now.begin(), now.begin() + static_cast<std::ptrdiff_t>(now.size() / 2)};
  }
}

template <typename Names, typename Change>
void apply_change(Names& names, const Change& change) {
  for (const auto& [name, node] : change) {
    if (node) {
      names[name] = *node;
    } else {
      names.erase(name);
    }
  }
}

}  // namespace

SimulatedDisk::SimulatedDisk(fs::path folder) : folder_(std::move(folder)), nodes_(1) { nodes_[0].is_directory = true; }

std::optional<fs::path> SimulatedDisk::below_folder(const fs::path& path) const {
  const fs::path below = path.lexically_relative(folder_);
  if (below.empty() || *below.begin() == "..") return std::nullopt;
  return below == "." ? fs::path() : below;
}

std::size_t SimulatedDisk::find(const fs::path& below) const {
  std::size_t node = 0;
  for (const fs::path& name : below) {
    const auto found = nodes_[node].names.find(name.string());
    if (found == nodes_[node].names.end()) throw std::logic_error("no " + below.string() + " on the simulated disk");
    node = found->second;
  }
  return node;
}

void SimulatedDisk::apply(const FileCall& call) {
  const std::optional<fs::path> path = below_folder(call.path);
  if (!path) return;
  switch (call.kind) {
    case FileCall::Kind::kCreate:
      return create(*path, false);
    case FileCall::Kind::kMakeDirectory:
      return create(*path, true);
    case FileCall::Kind::kRename:
      return rename(*path, below_folder(call.target).value());
    case FileCall::Kind::kExchange:
      return exchange(*path, below_folder(call.target).value());
    case FileCall::Kind::kLink: {
      const fs::path target = below_folder(call.target).value();
      const std::size_t node = find(*path);
      return change(target.parent_path(), {{target.filename().string(), node}});
    }
    case FileCall::Kind::kRemove:
      find(*path);
      return change(path->parent_path(), {{path->filename().string(), std::nullopt}});
    case FileCall::Kind::kWrite: {
      Bytes& bytes = nodes_[find(*path)].bytes;
      bytes.resize(std::max(bytes.size(), call.offset + call.bytes.size()));
      std::copy(call.bytes.begin(), call.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(call.offset));
      return;
    }
    case FileCall::Kind::kCut:
      return nodes_[find(*path)].bytes.resize(call.offset);
    case FileCall::Kind::kSync: {
      Node& node = nodes_[find(*path)];
      node.synced_bytes = node.bytes;
      node.synced_names = node.names;
      node.unsynced.clear();
      return;
    }
  }
}

void SimulatedDisk::create(const fs::path& below, bool is_directory) {
  const std::string name = below.filename().string();
  const Names& names = nodes_[find(below.parent_path())].names;
  if (const auto found = names.find(name); found != names.end()) {
    if (is_directory) throw std::logic_error(below.string() + " made twice on the simulated disk");
    nodes_[found->second].bytes.clear();
    return;
  }
  nodes_.emplace_back().is_directory = is_directory;
  change(below.parent_path(), {{name, nodes_.size() - 1}});
}

void SimulatedDisk::rename(const fs::path& from, const fs::path& to) {
  if (from.parent_path() != to.parent_path()) throw std::logic_error("renamed to another directory");
  const std::size_t node = find(from);
  change(from.parent_path(), {{from.filename().string(), std::nullopt}, {to.filename().string(), node}});
}

void SimulatedDisk::exchange(const fs::path& one, const fs::path& other) {
  if (one.parent_path() != other.parent_path()) throw std::logic_error("exchanged with a name in another directory");
  const std::size_t node = find(one);
  change(one.parent_path(), {{one.filename().string(), find(other)}, {other.filename().string(), node}});
}

void SimulatedDisk::change(const fs::path& directory, NameChange change) {
  Node& node = nodes_[find(directory)];
  apply_change(node.names, change);
  node.unsynced.push_back(std::move(change));
}

FolderContent SimulatedDisk::after_power_failure(const Survival& survival) const {
  std::mt19937 random(survival.seed);
  FolderContent content;
  const std::function<void(const fs::path&, const Node&)> visit = [&](const fs::path& path, const Node& node) {
    if (!node.is_directory) {
      content[path] = surviving_bytes(node.synced_bytes, node.bytes, survival.bytes, random);
      return;
    }
    if (!path.empty()) content[path] = std::nullopt;
    Names names = node.synced_names;
    for (const NameChange& change : node.unsynced) {
      const bool survives =
          survival.names == Survival::Names::kAll || (survival.names == Survival::Names::kSome && (random() & 1U) != 0);
      if (survives) apply_change(names, change);
    }
    for (const auto& [name, child] : names) visit(path / name, nodes_[child]);
  };
  visit({}, nodes_[0]);
  return content;
}

}  // namespace cpt
