#include "app/dist/options/tree_option.h"

#include <string>

#include "api/given_tree_files.h"
#include "app/shared/option_names.h"

namespace cpt {

CLI::Option* add_tree(CLI::App& app, TrainingOptions& training) {
  const std::string words = words_of(tree_names()) + ", file:PATH, huffman:PATH";
  const auto set = [&training, words](const std::string& text) {
    const auto found = tree_names().find(text);
    const bool is_word = found != tree_names().end();
    if (!is_word && !parse_tree_source(text)) {
      throw CLI::ValidationError("--tree", "'" + text + "' is none of: " + words);
    }
    training.model.tree = is_word ? found->second : TreeKind::kGiven;
    training.given_tree = is_word ? "" : text;
  };
  return app
      .add_option_function<std::string>(
          "--tree", set,
          "how new labels find their place; or the tree to begin with: file: as cpt dump writes it, huffman: that of "
          "labels and counts (a line each: LABEL, a tab, COUNT); labels that it lacks join it as online, by --alpha")
      ->type_name("(" + words + ")")
      ->default_str(name_of_tree(training.model.tree));
}

}  // namespace cpt
