#include "api/options/option_table.h"

#include "api/options/given_tree_files.h"
#include "api/options/option_bindings.h"
#include "api/options/option_values.h"
#include "core/number_text.h"
#include "data/shards/shards.h"

namespace cpt {

namespace {

using namespace binding;
using Binding = OptionBinding<TrainingOptions>;

constexpr const char* kAuto = "auto";

int parse_bits(const std::string& text) {
  if (const auto bits = parse_all<int>(text)) return *bits;
  throw Error(Fault::kUsage, "'" + text + "' is neither a whole number nor auto");
}

Binding bits() {
  return {
      .set =
          [](TrainingOptions& o, const Words& words) {
            o.auto_bits = words.front() == kAuto;
            if (!o.auto_bits) o.model.bits = parse_bits(words.front());
          },
      .show = [](const TrainingOptions& o) { return o.auto_bits ? std::string(kAuto) : std::to_string(o.model.bits); },
      .copy =
          [](TrainingOptions& to, const TrainingOptions& from) {
            to.auto_bits = from.auto_bits;
            to.model.bits = from.model.bits;
          },
      .of_model = true};
}

Binding sync_fraction() {
  return bind_member(
      &TrainingOptions::sync_fraction,
      [](const Words& words) {
        if (words.front() == kAuto) return 0.0;
        const double fraction = parse_number(words.front());
        if (fraction > 0) return fraction;
        throw Error(Fault::kUsage, "'" + words.front() + "' is neither a fraction above 0 nor auto");
      },
      [](double fraction) { return fraction == 0 ? std::string(kAuto) : number_text(fraction); });
}

constexpr const char* kLast = "last";

Binding keep_best() {
  return bind_member(
      &ValidationOptions::keep_best,
      [](const Words& words) -> std::optional<Metric> {
        if (words.front() == kLast) return std::nullopt;
        return parse_choice(metric_names(), words.front());
      },
      [](const std::optional<Metric>& metric) { return metric ? name_of(metric_names(), *metric) : kLast; });
}

std::string tree_words() { return words_of(tree_names()) + ", file:PATH, huffman:PATH"; }

Binding tree() {
  return {
      .set =
          [](TrainingOptions& o, const Words& words) {
            const std::string& word = words.front();
            const auto rule = tree_names().find(word);
            const bool is_rule = rule != tree_names().end();
            if (!is_rule && !parse_tree_source(word)) {
              throw Error(Fault::kUsage, "'" + word + "' is none of: " + tree_words());
            }
            o.model.tree = is_rule ? rule->second : TreeKind::kGiven;
            o.given_tree = is_rule ? "" : word;
          },
      .show = [](const TrainingOptions& o) { return o.given_tree.empty() ? name_of_tree(o.model.tree) : o.given_tree; },
      .copy =
          [](TrainingOptions& to, const TrainingOptions& from) {
            to.model.tree = from.model.tree;
            to.given_tree = from.given_tree;
          },
      .of_model = true};
}

Binding bad_line_policy() {
  return {.set =
              [](TrainingOptions& o, const Words& words) {
                const BadLinePolicy policy = parse_bad_line_policy(words.front());
                o.skip_bad_lines = policy.skip;
                o.most_bad_lines = policy.most;
              },
          .show = [](const TrainingOptions& o) { return bad_line_policy_text(o.skip_bad_lines, o.most_bad_lines); },
          .copy =
              [](TrainingOptions& to, const TrainingOptions& from) {
                to.skip_bad_lines = from.skip_bad_lines;
                to.most_bad_lines = from.most_bad_lines;
              }};
}

template <class Choice>
std::string one_of(const Names<Choice>& names) {
  return "(" + words_of(names) + ")";
}

using Use = OptionUse<TrainingOptions>;

Use for_trees() {
  return {[](const TrainingOptions& o) { return o.model.is_tree(); }, "methods that use a tree"};
}
Use for_regressors() {
  return {[](const TrainingOptions& o) { return o.model.method != Method::kTable; }, "methods that use regressors"};
}
Use for_growing_trees() {
  return {[](const TrainingOptions& o) {
            return o.model.is_tree() && (o.model.tree == TreeKind::kOnline || o.model.tree == TreeKind::kGiven);
          },
          "--tree online, and for labels that a given tree lacks"};
}

Use for_several_trees() {
  return {[](const TrainingOptions& o) {
            return o.model.is_tree() && (o.model.tree == TreeKind::kOnline || o.model.tree == TreeKind::kRandom);
          },
          "--tree online and random"};
}

Use for_calibrated_trees() {
  return {[](const TrainingOptions& o) { return o.model.is_tree() && o.model.loss == Loss::kLogistic; },
          "methods that use a tree, and --loss logistic"};
}

using Table = std::vector<TrainingOptionRow>;
using T = TrainingOptions;
using M = ModelOptions;

Table main_options() {
  return {
      {.name = "data",
       .value = "PATH ...",
       .help = "Training shards: files, directories or globs, plain, gzip or zstd; - reads standard input (one rank). "
               "Required unless you give --init and --test, or resume a run",
       .binding = list(&T::data),
       .words = OptionWords::kMany,
       .on_resume = OnResume::kShards},
      {.name = "test",
       .value = "PATH ...",
       .help = "Test shards, streamed after the last pass and reported separately. Each example is predicted, then "
               "learned",
       .binding = list(&T::test),
       .words = OptionWords::kMany,
       .on_resume = OnResume::kShards},
      {.name = "passes",
       .value = "N",
       .help = "Number of passes over the training data",
       .binding = count(&T::passes, 1),
       .on_resume = OnResume::kMayChange,
       .use = {[](const T& o) { return !o.data.empty(); }, "a run with --data"}},
      {.name = "method",
       .value = one_of(method_names()),
       .help = "How probabilities are estimated. tree: a binary regressor at every node; cpecoc: a tree with --arity "
               "branches per node and a code over them; oaa: one regressor per label, all evaluated for every example; "
               "pecoc: one code over all labels, which must be known in advance; table: label counts per distinct x",
       .binding = choice(&M::method, method_names())},
      {.name = "alpha",
       .value = "A",
       .help = "How the online tree grows, in (0, 1]: 1 only balances it; near 0, the regressors decide",
       .binding = number(&M::alpha),
       .use = for_growing_trees()},
      {.name = "learning-rate",
       .value = "R",
       .help = "Step size of the updates",
       .binding = number(&M::learning_rate),
       .use = for_regressors()},
      {.name = "bits",
       .value = "B|auto",
       .help = "The weight table of a tree has 2^B rows of 64 bytes. auto chooses B by the size of the data (22 for "
               "30 MB of text; more with crosses and n-grams) and uses at most half of the free memory",
       .binding = bits(),
       .use = for_regressors()},
      {.name = "init",
       .value = "MODEL",
       .help = "Start from this model. Options that you omit come from it; conflicting ones are errors",
       .binding = text(&T::init)},
  };
}

Table input_options() {
  return {
      {.name = "test-frozen",
       .help = "Only predict the test shards, do not learn from them",
       .binding = flag(&T::test_frozen),
       .words = OptionWords::kNone,
       .use = {[](const T& o) { return !o.test.empty(); }, "a run with --test"}},
      {.name = "format",
       .value = one_of(format_names()),
       .help = "Format of the shards; auto detects it from their content, and csv from names that end in .csv or .tsv",
       .binding = choice(&T::format, format_names())},
      {.name = "columns",
       .value = "NAME,...",
       .help = kColumnsHelp,
       .binding = comma_list(&T::columns),
       .use = {[](const T& o) { return o.format == Format::kAuto || o.format == Format::kCsv; }, "--format csv"}},
      {.name = "multilabel",
       .value = one_of(multilabel_names()),
       .help = "What to do with a libsvm, fasttext or json line that has several labels. first: use the first; sample: "
               "use a "
               "random one, the same in every pass; split: make one example per label and share the importance; error: "
               "treat it as a bad line",
       .binding = choice(&T::multilabel, multilabel_names())},
      {.name = "interactions",
       .value = "AB",
       .help = "Add a feature for each pair of features from namespaces that begin with A and with B, or, as "
               "NAME:NAME, from two by their names. May be repeated",
       .binding = list(&M::interactions),
       .words = OptionWords::kEach},
      {.name = "ngrams",
       .value = "[NS:]N",
       .help = "Add a feature for each 2 to N adjacent words: the words joined by ^, in their namespace. N alone is "
               "for all text: fasttext words and --text-keys; NS:N for the namespace NS. May be repeated",
       .binding = list(&M::ngrams),
       .words = OptionWords::kEach},
      {.name = "label-key",
       .also = "label-column",
       .value = "KEY",
       .help = "Key of the label in json lines, or its column in csv",
       .binding = text(&FieldRoles::label)},
      {.name = "importance-key",
       .also = "importance-column",
       .value = "KEY",
       .help = "Key or column of the importance; without it, every line has importance 1",
       .binding = text(&FieldRoles::importance)},
      {.name = "text-keys",
       .also = "text-columns",
       .value = "KEY,...",
       .help = "Keys or columns whose text is split into words, which become the features of a namespace of that name",
       .binding = comma_list(&FieldRoles::text)},
      {.name = "categorical-keys",
       .also = "categorical-columns",
       .value = "KEY,...",
       .help = "Keys or columns whose numbers are names, as other text is",
       .binding = comma_list(&FieldRoles::categorical)},
      {.name = "ignore-keys",
       .also = "ignore-columns",
       .value = "KEY,...",
       .help = "Keys or columns that are not read",
       .binding = comma_list(&FieldRoles::ignored)},
      {.name = "normalize",
       .value = one_of(normalize_names()),
       .help = "l2 scales every x to length 1",
       .binding = choice(&M::normalize, normalize_names())},
      {.name = "on-error",
       .value = std::string("(") + kBadLineWords + ")",
       .help = "At a bad line: stop, skip it, or skip at most N per pass",
       .binding = bad_line_policy(),
       .on_resume = OnResume::kMayChange},
      {.name = "split",
       .value = "N",
       .help = "Read each uncompressed file as N shards (at most 4096), so that several ranks can share it",
       .binding = count(&T::split, 1, kMostFileParts)},
  };
}

Use for_validated_runs() {
  return {[](const T& o) { return !o.validation.data.empty(); }, "a run with --validate"};
}

Table validation_options() {
  return {
      {.name = "validate",
       .value = "PATH ...",
       .help = "Validation shards: after each pass they are predicted by the model as it is then, and their losses are "
               "reported; nothing is learned from them",
       .binding = list(&ValidationOptions::data),
       .words = OptionWords::kMany,
       .on_resume = OnResume::kShards},
      {.name = "validate-every",
       .value = "N",
       .help = "Validate also whenever N more examples of a pass were learned. A line is one example, even if "
               "--multilabel split makes several of it; replicated runs on several ranks count all of these",
       .binding = count(&ValidationOptions::every, 1),
       .use = for_validated_runs()},
      {.name = "keep-best",
       .value = "(" + words_of(metric_names()) + ")",
       .help = "Write the model that has the lowest value of this loss in a validation, instead of the last model",
       .binding = keep_best(),
       .use = for_validated_runs()},
      {.name = "early-stop",
       .value = "K",
       .help = "End training after K validations in a row that are not better than the best one before, by the loss of "
               "--keep-best or, without it, by log",
       .binding = count(&ValidationOptions::early_stop, 1),
       .use = for_validated_runs()},
  };
}

Table model_options() {
  return {
      {.name = "tree",
       .value = "(" + tree_words() + ")",
       .help = "How new labels enter the tree, or the tree to start from. file: a tree written by cpt dump; huffman: "
               "lines of LABEL, tab, COUNT. Labels missing from a given tree enter as with online",
       .binding = tree(),
       .use = for_trees()},
      {.name = "trees",
       .value = "K",
       .help = "Predict by the mean of K trees (1 to 8), each with a weight table of its own: a lower log loss for K "
               "times the work and memory, which ranks share. The trees after the first use lower --alpha",
       .binding = count(&M::trees, 1, kMostTrees),
       .use = for_several_trees()},
      {.name = "arity",
       .value = "K",
       .help = "Branches per node of cpecoc: 2, 4, 8 or 16",
       .binding = count(&M::arity, 0),
       .use = {[](const T& o) { return o.model.method == Method::kConditionalPecoc; }, "--method cpecoc"}},
      {.name = "labels",
       .value = "FILE",
       .help = "All labels, one per line, for pecoc. Without it, an extra pass collects them from the shards",
       .binding = text(&T::labels),
       .on_resume = OnResume::kFree},
      {.name = "loss",
       .value = one_of(loss_names()),
       .help = "Loss of the node regressors; the paper uses squared",
       .binding = choice(&M::loss, loss_names()),
       .use = for_regressors()},
      {.name = "update",
       .value = one_of(update_names()),
       .help = "Update rule of the weights. safe never overshoots, whatever the values and the importance; adaptive: "
               "AdaGrad; sgd: the paper's",
       .binding = choice(&M::update, update_names()),
       .use = for_regressors()},
      {.name = "calibrate",
       .value = one_of(switch_names()),
       .help = "Calibrate every node: learn its probability from its regressor's margin. The paper does not",
       .binding = switched(&M::calibrate),
       .use = for_calibrated_trees()},
      {.name = "rarity",
       .value = one_of(switch_names()),
       .help = "Calibrate also by a margin in which rare features weigh more",
       .binding = switched(&M::rarity),
       .use = {[](const T& o) { return o.model.calibrates() || !o.model.rarity; }, "nodes with --calibrate on"}},
      {.name = "clip",
       .value = "E",
       .help = "Keep node probabilities in [E, 1 - E] when predicting; the paper uses 0",
       .binding = number(&M::clip),
       .use = for_regressors()},
      {.name = "seed",
       .value = "N",
       .help = "Seed of hashing and of all random choices",
       .binding = count(&M::seed, 0)},
  };
}

Table rank_options() {
  return {
      {.name = "placement",
       .value = one_of(placement_names()),
       .help = "partitioned: each rank holds a part of the weights, and the result equals that of one rank; "
               "replicated: each rank holds all weights, merged at sync points; hybrid: each rank holds the top of "
               "the tree, merged at sync points, and a part of the rest",
       .binding = choice(&T::placement, placement_names())},
      {.name = "merge",
       .value = one_of(merge_names()),
       .help = "How weights that several ranks hold are merged",
       .binding = choice(&T::merge, merge_names()),
       .use = {[](const T& o) { return o.placement != Placement::kPartitioned; }, "--placement replicated and hybrid"}},
      {.name = "sync-fraction",
       .value = "F|auto",
       .help = "Set a sync point, where replicas merge and partitions are balanced, whenever the examples since the "
               "last one are this part of all so far. auto: 0.02 if partitioned; else between 0.02 and 0.5, as soon as "
               "each rank has trained four times as many rows as all ranks together have to merge, or when ranks have "
               "trained 2^28 rows each",
       .binding = sync_fraction()},
      {.name = "sync-examples",
       .value = "N",
       .help = "Set a sync point every N examples instead",
       .binding = count(&T::sync_examples, 1),
       .excludes = "sync-fraction"},
      {.name = "round-examples",
       .value = "N",
       .help = "Approximate number of examples that all ranks together process per round; if partitioned, it affects "
               "speed only",
       .binding = count(&T::round_examples, 1),
       .on_resume = OnResume::kMayChangeIfPartitioned},
  };
}

Table checkpoint_options() {
  return {
      {.name = "keep",
       .value = "N",
       .help = "Number of recent checkpoints to keep",
       .binding = count(&CheckpointOptions::keep, 1),
       .on_resume = OnResume::kFree,
       .use = {[](const T& o) { return o.checkpoints.keep > 0; }, "a run that writes checkpoints"}},
  };
}

Table make_table() {
  Table table;
  const auto add = [&](const char* group, Table rows) {
    for (TrainingOptionRow& row : rows) row.group = group;
    table.insert(table.end(), rows.begin(), rows.end());
  };
  add(kMainOptions, main_options());
  add(kInputOptions, input_options());
  add(kValidationOptions, validation_options());
  add(kModelOptions, model_options());
  add(kRankOptions, rank_options());
  add(kCheckpointOptions, checkpoint_options());
  return table;
}

}  // namespace

const std::vector<TrainingOptionRow>& training_option_table() {
  static const std::vector<TrainingOptionRow> table = make_table();
  return table;
}

}  // namespace cpt
