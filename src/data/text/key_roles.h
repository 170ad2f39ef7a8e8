// What the user has said of keys of JSON lines, or of columns of a table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cpt/input.h"

namespace cpt {

enum class KeyRole : std::uint8_t { kLabel, kImportance, kText, kCategory, kIgnored, kOther };

class KeyRoles {
 public:
  // Throws Error(kUsage) if one key has two roles.
  explicit KeyRoles(const JsonKeys& keys);

  KeyRole of(std::string_view key) const {
    const auto found = roles_.find(key);
    return found == roles_.end() ? KeyRole::kOther : found->second;
  }
  // Whether a key other than those of the label and the importance has a role.
  bool of_features() const { return of_features_; }

 private:
  void add(const std::string& key, KeyRole role);

  std::map<std::string, KeyRole, std::less<>> roles_;
  bool of_features_ = false;
};

}  // namespace cpt
