#include "data/parsers/roles_by_name.h"

#include "cpt/error.h"
#include "data/format/parse_error.h"

namespace cpt {

RolesByName::RolesByName(const FieldRoles& roles)
    : has_feature_roles_(!roles.text.empty() || !roles.categorical.empty() || !roles.ignored.empty()) {
  add(roles.label, FieldRole::kLabel);
  if (!roles.importance.empty()) add(roles.importance, FieldRole::kImportance);
  for (const std::string& key : roles.text) add(key, FieldRole::kText);
  for (const std::string& key : roles.categorical) add(key, FieldRole::kCategory);
  for (const std::string& key : roles.ignored) add(key, FieldRole::kIgnored);
}

void RolesByName::add(const std::string& key, FieldRole role) {
  const auto [place, is_new] = roles_.emplace(key, role);
  if (is_new || place->second == role) return;
  throw Error(Fault::kUsage,
              "the options of keys and columns must name different ones, but two of them name " + quote(key));
}

}  // namespace cpt
