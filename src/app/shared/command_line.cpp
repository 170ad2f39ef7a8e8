#include "app/shared/command_line.h"

#include <memory>
#include <string_view>
#include <system_error>

#include "cpt/error.h"
#include "store/blob/manifest.h"
#include "store/run/run_directory.h"

namespace cpt {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 36;  // where explanations begin

std::string wrapped(std::string_view line) {
  if (!line.starts_with(' ')) return std::string(line);
  std::string text;
  std::size_t width = kWidth;  // of the current piece, without its indent
  while (line.size() > width) {
    const std::size_t space = line.rfind(' ', width);
    if (space == std::string_view::npos) break;
    text.append(line.substr(0, space)).append("\n").append(kColumn, ' ');
    line.remove_prefix(space + 1);
    width = kWidth - kColumn;
  }
  return text.append(line);
}

class HelpFormat : public CLI::Formatter {
 public:
  // help2man wants the usage line first, then the description, then the options.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const bool is_part = mode == CLI::AppFormatMode::Sub;
    const std::string help = is_part
                                 ? Formatter::make_help(app, std::move(name), mode)
                                 : make_usage(app, std::move(name)) + make_description(app) + make_positionals(app) +
                                       make_groups(app, mode) + make_subcommands(app, mode) + '\n' + make_footer(app);
    std::string text;
    for (std::size_t at = help.find_first_not_of('\n'); at < help.size();) {
      const std::size_t end = help.find('\n', at);
      text += wrapped(std::string_view(help).substr(at, end - at)) + "\n";
      at = end == std::string::npos ? help.size() : end + 1;
    }
    return text;
  }
};

}  // namespace

void set_help_layout(CLI::App& program) {
  const auto format = std::make_shared<HelpFormat>();
  format->column_width(kColumn);
  program.formatter(format);
}

void add_help_options(CLI::App& program, const std::string& version) {
  constexpr const char* kGroup = "Help";
  program.set_help_flag("-h,--help", "Print this help and exit")->group(kGroup);
  program.set_version_flag("--version", version, "Print the version and exit")->group(kGroup);
}

std::string usage_text(const CLI::ParseError& error) {
  std::string text = error.what();
  constexpr std::string_view kRepeated = ": At Most 1 required but received ";
  if (const std::size_t at = text.find(kRepeated); at != std::string::npos) {
    return text.substr(0, at) + " takes one value, and was given " + text.substr(at + kRepeated.size());
  }
  constexpr std::string_view kNoFlag = "Could not convert: ";
  if (const std::size_t at = text.find(" = "); text.starts_with(kNoFlag) && at != std::string::npos) {
    return text.substr(kNoFlag.size(), at - kNoFlag.size()) + ": '" + text.substr(at + 3) +
           "' is neither true nor false";
  }
  return text;
}

void require_values(const std::vector<std::string>& words) {
  std::string option;  // the previous word, if it is an option without a value
  for (const std::string& word : words) {
    const bool is_option = word.starts_with("--");
    if (is_option && word.find('=') == word.size() - 1) {
      throw CLI::ArgumentMismatch(word.substr(0, word.size() - 1) + " is empty");
    }
    if (word.empty() && !option.empty()) throw CLI::ArgumentMismatch(option + " is empty");
    option = is_option && word.find('=') == std::string::npos ? word : "";
  }
}

// CLI11 would split a value in brackets if it were bound to a list, so the option takes single texts.
CLI::Option* add_repeated(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                          const std::string& help) {
  const auto add = [&texts](const std::string& text) { texts.push_back(text); };
  return app.add_option_function<std::string>(flag, add, help + ". May be repeated")->trigger_on_parse();
}

CLI::Option* add_on_error(CLI::App& app, bool& skip, std::optional<std::uint64_t>& most, const std::string& help,
                          bool* answer) {
  const std::string more = answer != nullptr ? ", answer" : "";
  const auto parse = [more](const std::string& text) {
    try {
      return parse_bad_line_policy(text);
    } catch (const Error& error) {
      throw Error(error.fault(), error.what() + more);  // the message ends with the list of words
    }
  };
  const auto set = [&skip, &most, answer, parse](const std::string& text) {
    const bool answers = answer != nullptr && text == "answer";
    if (answer != nullptr) *answer = answers;
    const BadLinePolicy policy = parse_value("--on-error", [&] { return parse(answers ? "skip" : text); });
    skip = policy.skip;
    most = policy.most;
  };
  return app.add_option_function<std::string>("--on-error", set, help)
      ->type_name("(" + (kBadLineWords + more) + ")")
      ->default_str("stop");
}

bool is_blob_set(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path / kManifestName, unknown);
}

void require_data(const char* option, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const bool is_run = RunDirectory::is_at(path);
    if (!is_run && !is_blob_set(path)) continue;
    throw Error(Fault::kUsage, std::string(option) + " " + path + " is " +
                                   (is_run ? "a run directory" : "a model or a checkpoint") + ", not data");
  }
}

void require_no_run_around_model(const std::filesystem::path& model) {
  if (is_blob_set(model)) return;
  const std::filesystem::path inside = RunDirectory::model(model);
  if (is_blob_set(inside)) {
    throw Error(Fault::kNoInput, model.string() + ": is not a model; did you mean " + inside.string() + "?");
  }
  if (!RunDirectory::is_at(model)) return;
  throw Error(Fault::kNoInput, model.string() + ": is a run without a model: it has not finished, or learned nothing");
}

void add_columns(CLI::App& app, std::vector<std::string>& columns) {
  const auto set = [&columns](const std::string& text) {
    columns = parse_value("--columns", [&] { return split_at_commas(text); });
  };
  app.add_option_function<std::string>("--columns", set, kColumnsHelp)->option_text("NAME,...");
}

CLI::Option* add_multilabel(CLI::App& app, MultiLabel& multilabel) {
  return add_choice(
      app, "--multilabel", multilabel, multilabel_names(),
      "What to do with a libsvm, fasttext or json line that has several labels. first: use the first; sample: "
      "use a random one, always the same; split: make one example per label and share the importance; "
      "error: treat it as a bad line");
}

CLI::Option* add_interactions(CLI::App& app, std::vector<std::string>& interactions) {
  return app
      .add_option("--interactions", interactions,
                  "Add a feature for each pair of features from namespaces that begin with A and with B, or, as "
                  "NAME:NAME, from two by their names. May be repeated")
      ->option_text("AB")
      ->allow_extra_args(false);
}

CLI::Option* add_ngrams(CLI::App& app, std::vector<std::string>& ngrams) {
  return app
      .add_option("--ngrams", ngrams,
                  "Add a feature for each 2 to N adjacent words: the words joined by ^, in their namespace. N alone is "
                  "for all text: fasttext words and --text-keys; NS:N for the namespace NS. May be repeated")
      ->option_text("[NS:]N")
      ->allow_extra_args(false);
}

void add_field_roles(CLI::App& app, FieldRoles& roles) {
  const auto add_list = [&app](const char* names, std::vector<std::string>& list, const char* help) {
    app.add_option(names, list, help)->delimiter(',')->allow_extra_args(false)->option_text("KEY,...");
  };
  app.add_option("--label-key,--label-column", roles.label, "Key of the label in json lines, or its column in csv")
      ->type_name("KEY");
  app.add_option("--importance-key,--importance-column", roles.importance, "Key or column of the importance")
      ->type_name("KEY");
  add_list("--text-keys,--text-columns", roles.text, "Keys or columns whose text is split into words");
  add_list("--categorical-keys,--categorical-columns", roles.categorical,
           "Keys or columns whose numbers are names, as other text is");
  add_list("--ignore-keys,--ignore-columns", roles.ignored, "Keys or columns that are not read");
}

}  // namespace cpt
