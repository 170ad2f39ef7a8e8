// The parsers give what plain ones give: the same examples to the last bit, or the same reason at the same column.
#include "data/parsers/plain_parsers.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/text/tokens.h"

namespace cpt {
namespace {

// What a parser makes of a line, in words.
class Verdict {
 public:
  Verdict(LineParser& parser, ReadOptions& options, std::string_view line) {
    // In memory of its own, so that a sanitizer sees whoever reads beyond.
    const std::vector<char> exact(line.begin(), line.end());
    options.on_feature = [this](FeatureHash hash, std::string_view name_space, std::string_view name) {
      add(std::string(name_space) + "^" + std::string(name), hash);
    };
    Batch batch;
    try {
      add("examples?", parser.parse({exact.data(), exact.size()}, {3, 4, 5, 6, 7}, batch) ? 1 : 0);
    } catch (const ParseError& parse_error) {
      add(parse_error.what(), parse_error.column());
      add("unlabelled", dynamic_cast<const UnlabelledLine*>(&parse_error) != nullptr ? 1 : 0);
    }
    add("tag " + std::string(parser.tag()), 0);
    for (std::size_t i = 0; i < batch.size(); ++i) add(batch[i]);
    add("bad lines", batch.empty() ? 7 : batch.origin(0).bad_lines);
  }

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& name, std::uint64_t number) { text_ += name + " " + std::to_string(number) + "\n"; }
  void add(const ExampleView& x) {
    add("label " + std::string(x.label), x.label_hash);
    add("importance", std::bit_cast<std::uint32_t>(x.importance));
    for (std::size_t f = 0; f < x.features.size(); ++f) {
      add(std::to_string(x.features[f]), std::bit_cast<std::uint32_t>(x.values[f]));
    }
  }

  std::string text_;
};

// A fast and a plain parser of the same options.
class Twins {
 public:
  Twins(Format format, ReadOptions options)
      : options_(std::move(options)),
        fast_(make_line_parser(format, options_)),
        plain_(make_plain_parser(format, options_)) {}

  void compare(std::string_view line) {
    if (Tokens(line).next().empty()) return;  // never parsed
    ++compared_;
    ASSERT_EQ(Verdict(*fast_, options_, line).text(), Verdict(*plain_, options_, line).text()) << line;
  }
  std::size_t compared() const { return compared_; }

 private:
  ReadOptions options_;
  std::unique_ptr<LineParser> fast_;
  std::unique_ptr<LineParser> plain_;
  std::size_t compared_ = 0;
};

struct Case {
  Format format;
  std::vector<std::string> lines;
  std::string alphabet;  // of what matters
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {Format::kVw,
       {"y|", "where |p 1=place 2=the |b:0.5 of place:4 |g the_place:-1e-1", "y 2.5 'tag|long_name a b:3 :2 |:1.25 c",
        "y 0 tag|a b",
        std::string("label |a ").append(60, 'x').append(":0.0625 ").append(70, 'y').append(" |b\tz:+12345678")},
       " \t|:'.-+0159eExyn#\r\xc3"},
      {Format::kLibsvm,
       {"1 3:1", "3,17 0012:0.065240 18446744073709551615:1 7:.5 12345678:12345678 123456789:-1e2",
        "73 212:0.06524 268:0.049102 312:0.053551 394:0.039169 440:0.026125 452:0.062928 815:0.033383"},
       " \t|:,.-+0159eExy\r\xc3"},
      {Format::kFasttext,
       {"__label__a w", "w __label__b w __label__b\t__label__c the end",
        std::string(64, 'z').append(" __label__x the the the")},
       " \t|:_lae0\r\xc3"},
  };
  return kCases;
}

ReadOptions options_of(bool labels_required) {
  return {.multilabel = MultiLabel::kSplit, .labels_required = labels_required, .weights_required = labels_required};
}

// Labels are required where a byte is put in, and are not where it takes another's place.
TEST(PlainParsers, AgreeOnLinesWithOneByteChangedLeftOutOrPutIn) {
  for (const Case& c : cases()) {
    Twins required(c.format, options_of(true));
    Twins not_required(c.format, options_of(false));
    for (const std::string& line : c.lines) {
      for (std::size_t i = 0; i < line.size(); ++i) {
        const std::string before = line.substr(0, i);
        const std::string behind = line.substr(i + 1);
        required.compare(before + behind);
        for (const char byte : c.alphabet) {
          required.compare(before + byte + line.substr(i));
          not_required.compare(before + byte + behind);
        }
      }
    }
    EXPECT_GT(required.compared(), 1000U);
  }
}

TEST(PlainParsers, AgreeOnRandomLinesOfEveryLength) {
  std::uint64_t state = 5;
  const auto below = [&state](std::size_t bound) { return (state = mix(state + 1)) % bound; };
  for (const Case& c : cases()) {
    Twins twins(c.format, options_of(false));
    const std::string& good = c.lines.back();
    for (std::size_t length = 1; length <= 300; ++length) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        // Parts of a good line with a little noise between them: some are good, some are not.
        std::string line;
        while (line.size() < length) {
          const std::size_t first = below(good.size());
          line += good.substr(first, below(20));
          if (below(4) == 0) line += c.alphabet[below(c.alphabet.size())];
        }
        twins.compare(std::string_view(line).substr(0, length));
      }
    }
  }
}

TEST(PlainParsers, AgreeOnCrosses) {
  ReadOptions options = options_of(true);
  options.interactions = {"pb", "bb"};
  Twins twins(Format::kVw, options);
  const std::string line = "y |p a:1e20 b c |b:1e15 d e:0.5 |big f |p g";
  for (std::size_t i = 0; i < line.size(); ++i) {
    for (const char byte : std::string_view(" |:pb0x")) twins.compare(line.substr(0, i) + byte + line.substr(i + 1));
  }
  EXPECT_EQ(twins.compared(), 7 * line.size());
}

}  // namespace
}  // namespace cpt
