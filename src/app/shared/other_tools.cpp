#include "app/shared/other_tools.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

namespace cpt {

namespace {

constexpr const char* kData = "--data PATH";
constexpr const char* kDataInCpt = "--data PATH, or cpt convert IN OUT";
constexpr const char* kBits = "--bits B, which counts rows of 64 bytes (default: by the size of the data)";
constexpr const char* kRun = "--run DIR, and the model is DIR/model";
constexpr const char* kInit = "cpt_dist --init MODEL to train on, cpt predict --model MODEL to predict";
constexpr const char* kInputOrInit =
    "--data PATH for data; cpt_dist --init MODEL or cpt predict --model MODEL for a model";
constexpr const char* kRate = "--learning-rate R";
constexpr const char* kPasses = "--passes N";
constexpr const char* kTree = "--method tree, the default; the labels are found in the data";
constexpr const char* kOaa = "--method oaa, or the tree without it; the labels are found in the data";
constexpr const char* kMethod = "--method M";
constexpr const char* kLoss = "--loss logistic or squared, of the nodes of the tree";
constexpr const char* kPredict = "cpt predict --model MODEL --data PATH";
constexpr const char* kTest = "cpt_dist --test PATH --test-frozen, or cpt evaluate --model MODEL --data PATH";
constexpr const char* kValidate = "--validate PATH --keep-best log";
constexpr const char* kEarlyStop = "--validate PATH --early-stop K, and --keep-best log for the best model";
constexpr const char* kCache = "cpt convert IN OUT, then --data OUT";
constexpr const char* kNoCache = "leave it out, no cache is kept (cpt evaluate has --k N)";
constexpr const char* kCross = "--interactions AB for pairs; there are no crosses of three";
constexpr const char* kNgrams = "--ngrams N for all text, --ngrams NAMESPACE:N for a namespace";
constexpr const char* kThreads = "mpirun -n N cpt_dist to train; cpt predict --threads N";
constexpr const char* kRanks = "mpirun -n N cpt_dist";
constexpr const char* kQuiet = "--progress none";
constexpr const char* kQuietInCpt = "leave it out; warnings go to standard error";
constexpr const char* kSeed = "--seed N";
constexpr const char* kUpdate = "--update safe, adaptive or sgd";
constexpr const char* kExplain = "cpt explain --model MODEL --data PATH";
constexpr const char* kTrees = "--trees K";
constexpr const char* kConfig = "--config FILE, with our options";
constexpr const char* kMultilabel =
    "--multilabel split for libsvm, fasttext and json; a vw line has one label, and 1,2 is one";
constexpr const char* kAlways = "leave it out, it is always so";
constexpr const char* kNothing = "leave it out, there is nothing like it";
constexpr const char* kModel = "--model DIR";
constexpr const char* kOutput = "--output FILE with cpt predict, score and dump, > FILE with other commands";
constexpr const char* kNotLearning = "leave it out, a model learns only with cpt predict --learn";
constexpr const char* kConstant = "leave it out, every example has the constant feature";
constexpr const char* kLinear = "leave it out, the nodes are linear; --interactions AB crosses features";
constexpr const char* kNoCosts = "leave it out, there are no costs and bandits; cpt score --labels compares candidates";
constexpr const char* kNameSpaces =
    "--ignore-keys or --ignore-columns for json and csv; remove namespaces of vw lines beforehand, as with sed";
constexpr const char* kArity = "--method cpecoc --arity K";
constexpr const char* kOnline = "leave it out, nothing is solved: each example is one step (--learning-rate R)";
constexpr const char* kNoTree = "leave it out, the nodes of the label tree are linear";

struct ForeignOption {
  std::string_view name;
  const char* here;              // completes "here: ..."
  const char* in_cpt = nullptr;  // the same for cpt, where it differs; "" if there is nothing to say
};

constexpr auto kVwOptions = std::to_array<ForeignOption>({
    {"-d", kData, kDataInCpt},
    {"-b", kBits},
    {"--bit_precision", kBits},
    {"-q", "--interactions AB"},
    {"--quadratic", "--interactions AB"},
    {"--cubic", kCross},
    {"-f", kRun},
    {"--final_regressor", kRun},
    {"-i", kInputOrInit},
    {"--initial_regressor", kInit},
    {"-c", kCache},
    {"--cache", kCache},
    {"--cache_file", kCache},
    {"-k", kNoCache},
    {"--kill_cache", kNoCache},
    {"-l", kRate},
    {"--learning_rate", kRate},
    {"--power_t", kNothing},
    {"--initial_t", kNothing},
    {"--decay_learning_rate", kNothing},
    {"--l1", kNothing},
    {"--l2", kNothing},
    {"-t", kTest, kNotLearning},
    {"--testonly", kTest, kNotLearning},
    {"-p", kPredict, kOutput},
    {"--predictions", kPredict, kOutput},
    {"-P", "--progress-every TIME"},
    {"--quiet", kQuiet, kQuietInCpt},
    {"--oaa", kOaa},
    {"--csoaa", kOaa},
    {"--ect", kTree},
    {"--plt", kTree},
    {"--log_multi", kTree},
    {"--recall_tree", kTree},
    {"--multilabel_oaa", kMultilabel},
    {"--probabilities", kAlways},
    {"--loss_function", kLoss},
    {"--link", kAlways},
    {"--hash", "leave it out, all names are hashed"},
    {"--ngram", kNgrams},
    {"--skips", kNothing},
    {"--random_seed", kSeed},
    {"--holdout_off", "leave it out, no examples are held out"},
    {"--holdout_period", kTest},
    {"--holdout_after", kTest},
    {"--early_terminate", kEarlyStop},
    {"--save_resume", "leave it out, checkpoints keep all state; --resume continues a run"},
    {"--span_server", kRanks},
    {"--total", kRanks},
    {"--node", kRanks},
    {"--unique_id", kRanks},
    {"--adaptive", kUpdate},
    {"--normalized", "leave it out, and scale features of huge values (--normalize l2 scales whole lines)"},
    {"--invariant", kUpdate},
    {"--sgd", kUpdate},
    {"--bfgs", kUpdate},
    {"--ftrl", kUpdate},
    {"--coin", kUpdate},
    {"--rank", kLinear},
    {"--lrq", kLinear},
    {"--nn", kLinear},
    {"--noconstant", kConstant},
    {"--keep", kNameSpaces},
    {"--ignore", kNameSpaces},
    {"-r", "leave it out, predictions are probabilities"},
    {"--kary_tree", kArity},
    {"--num_children", kArity},
    {"--cb", kNoCosts},
    {"--cb_adf", kNoCosts},
    {"--cb_explore_adf", kNoCosts},
    {"--csoaa_ldf", kNoCosts},
    {"-a", "cpt explain for the audit of Vowpal Wabbit, --arity K for the arity of napkinXC"},
    {"--audit", kExplain},
    {"--invert_hash", kExplain},
    {"--readable_model", "cpt dump --model MODEL"},
    {"--daemon", "cpt predict --model MODEL --data -, which answers line by line"},
    {"--port", "cpt predict --model MODEL --data -, which answers line by line"},
});

constexpr auto kFastTextOptions = std::to_array<ForeignOption>({
    {"-input", kData, kDataInCpt},
    {"-output", kRun, kOutput},
    {"-lr", kRate},
    {"-lrUpdateRate", kNothing},
    {"-epoch", kPasses},
    {"-dim", kNothing},
    {"-ws", kNothing},
    {"-wordNgrams", kNgrams},
    {"-minn", kNothing},
    {"-maxn", kNothing},
    {"-minCount", kNothing},
    {"-minCountLabel", kNothing},
    {"-bucket", kBits},
    {"-loss", "--method tree for hs, --method oaa for ova"},
    {"-neg", kNothing},
    {"-thread", kThreads},
    {"-label", "leave it out, labels begin with __label__"},
    {"-seed", kSeed},
    {"-verbose", "--progress plain or none", kQuietInCpt},
    {"-autotune-validation", kValidate},
    {"-autotune-duration", kNothing},
    {"-pretrainedVectors", kNothing},
});

constexpr auto kNapkinOptions = std::to_array<ForeignOption>({
    {"--input", kData, kDataInCpt},
    {"-o", kRun, kOutput},
    {"--output", kRun, ""},
    {"-m", kMethod, kModel},
    {"--threads", kThreads},
    {"--epochs", kPasses},
    {"--lr", kRate},
    {"--eta", kRate},
    {"--optimizer", kUpdate},
    {"--treeType", "--tree online, balanced, random or huffman:PATH"},
    {"--ensemble", kTrees},
    {"--topK", "cpt predict --top N, cpt evaluate --k N"},
    {"--measures", "cpt evaluate --k N,N"},
    {"--maxLeaves", "leave it out, a leaf holds one label"},
    {"--eps", kOnline},
    {"--cost", kOnline},
    {"--bias", kConstant},
    {"--norm", "--normalize l2 or none"},
});

constexpr auto kLightGbmOptions = std::to_array<ForeignOption>({
    {"config=", kConfig},
    {"task=", "cpt_dist to train, cpt predict to predict"},
    {"objective=", kMethod},
    {"boosting=", kNoTree},
    {"data=", kData},
    {"valid=", kTest},
    {"label=", "--label-column C"},
    {"weight=", "--importance-column C"},
    {"ignore_column=", "--ignore-columns C"},
    {"num_class=", "leave it out, the labels are found in the data"},
    {"num_iterations=", "--passes N, which traverses the data N times"},
    {"num_trees=", "leave it out: --trees K is a mean of label trees, not boosting"},
    {"learning_rate=", kRate},
    {"num_leaves=", kNoTree},
    {"max_depth=", kNoTree},
    {"max_bin=", kNoTree},
    {"output_model=", kRun},
    {"input_model=", kInit},
    {"output_result=", "cpt predict --output FILE"},
    {"num_threads=", kThreads},
    {"num_machines=", kRanks},
    {"machine_list_file=", kRanks},
    {"tree_learner=", "--placement P"},
    {"seed=", kSeed},
    {"early_stopping_round=", kEarlyStop},
    {"categorical_feature=", "--categorical-columns, which takes names of columns"},
});

constexpr auto kHabits = std::to_array<ForeignOption>({
    {"--output", "", "> FILE where a command prints its results; cpt convert IN OUT"},
    {"--model",
     "cpt predict --model MODEL to predict, --init MODEL to start from a model, and --method M for the --model of "
     "napkinXC",
     ""},
    {"--init", "", kModel},
    {"--test", "", kData},
    {"--validate", "", kData},
    {"--k", "cpt predict --top N"},
    {"--ranks", kRanks},
    {"--np", kRanks},
    {"-np", kRanks},
    {"-n", kRanks},
});

struct Tool {
  const char* name;  // nullptr: none
  std::span<const ForeignOption> options;
};

// An option of two tools, such as -i, belongs to the first; its text serves both.
constexpr auto kTools = std::to_array<Tool>({
    {"Vowpal Wabbit", kVwOptions},
    {"fastText", kFastTextOptions},
    {"napkinXC", kNapkinOptions},
    {"LightGBM", kLightGbmOptions},
    {nullptr, kHabits},
});

// "--lr=0.1" is --lr, "-b24" is -b, "-qab" is -q, and "data=train.txt" is data=.
std::string_view name_in(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos) return word.substr(0, word.starts_with('-') ? equals : equals + 1);
  const bool has_number = word.size() > 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0 &&
                          std::isdigit(static_cast<unsigned char>(word[2])) != 0;
  const bool has_pair = word.size() == 4 && word.starts_with("-q");
  return has_number || has_pair ? word.substr(0, 2) : word;
}

// Empty if there is nothing to say.
std::string describe(std::string_view name, const Tool& tool, const ForeignOption& option, Program program,
                     const AdviceFit& fit) {
  const bool is_for_cpt = program == Program::kCpt && option.in_cpt != nullptr;
  std::string here = is_for_cpt ? option.in_cpt : option.here;
  if (here.empty()) return "";
  if (fit && !is_for_cpt) here = fit(here);
  const std::string what = tool.name == nullptr ? " is not an option" : std::string(" is an option of ") + tool.name;
  return std::string(name) + what + "; here: " + here;
}

}  // namespace

std::string describe_other_tools_option(const std::vector<std::string>& words, Program program, const AdviceFit& fit) {
  for (const std::string& word : words) {
    const std::string_view name = name_in(word);
    for (const Tool& tool : kTools) {
      const auto found = std::ranges::find(tool.options, name, &ForeignOption::name);
      if (found == tool.options.end()) continue;
      std::string text = describe(name, tool, *found, program, fit);
      if (!text.empty()) return text;
    }
  }
  return "";
}

}  // namespace cpt
