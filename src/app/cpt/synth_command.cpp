// Event i of a stage goes to shard i mod --shards, so a reader that takes a line of each shard in turn gets the events
// in order of time. Probabilities are printed as the shortest decimal that gives the same double.
#include <cmath>
#include <deque>
#include <filesystem>
#include <vector>

#include "app/cpt/commands.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "cpt/error.h"
#include "data/source/file_source.h"
#include "store/fs/durable_file.h"
#include "synthetic/web_ads.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSynthFooter = R"(Files:
  OUT/train/part-000.vw ...         the first 80 % of the events, in order of time, dealt to the
                                    shards in turn
  OUT/test/part-000.vw ...          the rest
  OUT/truth/train/part-000.txt ...  for each line, the true P(ad | page) at its time
  OUT/truth/test/part-000.txt ...   the same for the test lines

Examples:
  cpt synth web-ads ads
  cpt synth web-ads ads --events 5e7 --shards 64 --format libsvm --seed 2)";

struct SynthOptions {
  fs::path out;
  WebAdsOptions log;
  std::uint64_t shards = 8;
  Format format = Format::kVw;
};

const Names<Format>& written_formats() {
  static const Names<Format> names{{"vw", Format::kVw}, {"libsvm", Format::kLibsvm}, {"fasttext", Format::kFasttext}};
  return names;
}

// One file per shard.
class ShardFiles {
 public:
  ShardFiles(const fs::path& directory, std::uint64_t shards, const std::string& ending) {
    create_directories_durably(directory);
    for (std::uint64_t i = 0; i < shards; ++i) files_.emplace_back(directory / part_name(i, ending));
  }
  ResultWriter& of(std::uint64_t event) { return files_[event % files_.size()]; }
  void finish() {
    for (ResultWriter& file : files_) file.finish();
  }

 private:
  std::deque<ResultWriter> files_;  // a deque, because a ResultWriter cannot move
};

// Sums of the losses of the true P over events.
struct TrueLosses {
  double squared = 0;
  double log = 0;
};

struct Stage {
  std::string name;
  std::uint64_t begin;
  std::uint64_t end;
};

TrueLosses write_stage(const WebAds& world, const Stage& stage, const SynthOptions& options, const fs::path& root) {
  ShardFiles shards(root / stage.name, options.shards, name_of(written_formats(), options.format));
  ShardFiles truth(root / "truth" / stage.name, options.shards, "txt");
  TrueLosses losses;
  std::vector<WordCount> words;
  std::string line;
  for (std::uint64_t number = stage.begin; number < stage.end; ++number) {
    const Event event = world.event(number);
    world.words(event.page, words);
    line.clear();
    append_line(options.format, event.ad, words, line);
    shards.of(number - stage.begin).print("{}", line);
    truth.of(number - stage.begin).print("{}\n", event.probability);
    losses.squared += (1 - event.probability) * (1 - event.probability);
    losses.log -= std::log(event.probability);
  }
  shards.finish();
  truth.finish();
  return losses;
}

void report(const SynthOptions& options, const Stage& train, const Stage& test, const TrueLosses& losses) {
  const std::uint64_t tests = test.end - test.begin;
  ResultWriter out;
  out.print("{}: {} events to train, {} to test, in {} shards each\n", options.out.string(), train.end - train.begin,
            tests, options.shards);
  if (tests > 0) {
    const auto count = static_cast<double>(tests);
    out.print("loss of the true P on the test events: squared {:.4f}, log {:.4f}\n", losses.squared / count,
              losses.log / count);
  }
  out.finish();
}

void synthesize_web_ads(const SynthOptions& options) {
  const WebAds world(options.log);
  const Stage train{"train", 0, world.training_events()};
  const Stage test{"test", world.training_events(), world.options().events};
  allow_open_files(2 * options.shards, "write fewer --shards");
  NewDirectory directory(options.out);
  write_stage(world, train, options, directory.path());
  const TrueLosses losses = write_stage(world, test, options, directory.path());
  directory.publish();
  report(options, train, test, losses);
}

void add_number(CLI::App& command, const char* flag, double& value, const char* help) {
  command.add_option(flag, value, help)->type_name("X")->capture_default_str();
}

void declare_web_ads(CLI::App& command, SynthOptions& options) {
  command.add_option("OUT", options.out, "New or empty directory")->required();
  WebAdsOptions& log = options.log;
  add_count(command, "--events", log.events, 1, "Number of events; each is a page shown with an ad");
  add_count(command, "--pages", log.pages, 1, "Number of distinct pages")->default_str("0.116 per event");
  add_count(command, "--ads", log.ads, 1, "Approximate number of distinct ads")->default_str("0.0172 per event");
  add_count(command, "--shards", options.shards, 1, "Number of files for each part of the log, at most 1000",
            kMostParts);
  add_choice(command, "--format", options.format, written_formats(), "Format of the shards");
  add_count(command, "--seed", log.seed, 0, "Seed; the same options and seed give the same bytes");
  add_number(command, "--page-skew", log.page_skew, "Skew of the pages: half as many pages are shown X times as often");
  add_number(command, "--ad-turnover", log.ad_turnover, "How often each ad slot changes to a new ad during the log");
  add_number(command, "--top-ad", log.top_ad, "Fraction of the events that show the most frequent ad");
  add_number(command, "--topic-words", log.topic_words,
             "Fraction of a page's words, beyond three, that depend on its topic");
}

}  // namespace

void add_synth_command(CLI::App& program, Action& action) {
  CLI::App* group = program.add_subcommand("synth", "Writes synthetic data whose true probabilities are known.");
  group->footer(kSynthFooter);
  group->require_subcommand(1);
  add_command<SynthOptions>(*group, action, "web-ads", "Writes a log of pages and the ads shown on them.", kSynthFooter,
                            declare_web_ads, synthesize_web_ads);
}

}  // namespace cpt
