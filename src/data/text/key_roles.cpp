#include "data/text/key_roles.h"

#include "cpt/error.h"
#include "data/format/parse_error.h"

namespace cpt {

KeyRoles::KeyRoles(const JsonKeys& keys)
    : of_features_(!keys.text.empty() || !keys.categorical.empty() || !keys.ignored.empty()) {
  add(keys.label, KeyRole::kLabel);
  if (!keys.importance.empty()) add(keys.importance, KeyRole::kImportance);
  for (const std::string& key : keys.text) add(key, KeyRole::kText);
  for (const std::string& key : keys.categorical) add(key, KeyRole::kCategory);
  for (const std::string& key : keys.ignored) add(key, KeyRole::kIgnored);
}

void KeyRoles::add(const std::string& key, KeyRole role) {
  const auto [place, is_new] = roles_.emplace(key, role);
  if (is_new || place->second == role) return;
  throw Error(Fault::kUsage,
              "the options of keys and columns must name different ones, but two of them name " + quote(key));
}

}  // namespace cpt
