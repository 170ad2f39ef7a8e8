// The roles that options give to keys of JSON lines, or to columns of a table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cpt/input.h"

namespace cpt {

enum class FieldRole : std::uint8_t { kLabel, kImportance, kText, kCategory, kIgnored, kOther };

class RolesByName {
 public:
  // Throws Error(kUsage) if one key has two roles.
  explicit RolesByName(const FieldRoles& roles);

  FieldRole of(std::string_view key) const {
    const auto found = roles_.find(key);
    return found == roles_.end() ? FieldRole::kOther : found->second;
  }
  // Whether a key other than those of the label and the importance has a role.
  bool has_feature_roles() const { return has_feature_roles_; }

 private:
  void add(const std::string& key, FieldRole role);

  std::map<std::string, FieldRole, std::less<>> roles_;
  bool has_feature_roles_ = false;
};

}  // namespace cpt
