// Tables as shards: their headers, records of several lines, and going on in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cpt/error.h"
#include "data/folder.h"
#include "data/pipeline/first_look.h"
#include "data/pipeline/shard_preview.h"
#include "data/reading.h"

namespace cpt {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::string kTable =
    "label,text,n\n"
    "a,\"one\ntwo\",1\n"
    "\n"
    "b,three,2\n"
    "c,\"four\n\n\"\"five\"\"\",3\r\n"
    "d,,4";

ReadOptions as_text() { return {.fields = {.text = {"text"}}}; }

std::vector<Read> expected() {
  return {{"a", features({{"text", "one"}, {"text", "two"}, {"n", "n", 1}}), 1, 0, 3},
          {"b", features({{"text", "three"}, {"n", "n", 2}}), 1, 0, 5},
          {"c", features({{"text", "four"}, {"text", "\"five\""}, {"n", "n", 3}}), 1, 0, 8},
          {"d", features({{"n", "n", 4}}), 1, 0, 9}};
}

class Tables : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const { return folder_.write(name, content); }

 private:
  Folder folder_;
};

TEST_F(Tables, AreKnownByTheirNames) {
  for (const char* name : {"a.csv", "a.tsv", "a.csv.gz", "a.tsv.zst", "A.CSV", "a.Tsv.GZ"})
    EXPECT_TRUE(is_table_name(name)) << name;
  for (const char* name : {"a.vw", "csv", "a.csv.vw", "a.csv.xz"}) EXPECT_FALSE(is_table_name(name)) << name;
  EXPECT_EQ(read_all({file("a.csv", kTable)}, as_text()), expected());
  ReadOptions options = as_text();
  options.format = Format::kCsv;
  EXPECT_EQ(read_all({file("a.txt", "\xef\xbb\xbf\n" + kTable)}, options).size(), expected().size());
  EXPECT_EQ(labels_of(read_all({file("b.tsv", "x\tlabel\n1\ta\n")})), "a");
  options.format = Format::kVw;
  EXPECT_EQ(labels_of(read_all({file("c.csv", "a | x\n")}, options)), "a");
}

TEST_F(Tables, HaveEachAHeader) {
  const std::vector<Read> read =
      read_all({file("a.csv", "label,n\na,1\nb,2\n"), file("b.csv", "m,label\n3,c\n4,d\n"), file("c.vw", "e |f x\n")});
  EXPECT_EQ(labels_of(read), "a c e b d");
  EXPECT_EQ(read[1].x, features({{"m", "m", 3}}));
  EXPECT_EQ(read[3].x, features({{"n", "n", 2}}));
}

// A stream that is left at any example goes on with the next.
TEST_F(Tables, GoOnAtACursor) {
  const std::vector<Shard> shards = find_shards({file("a.csv", kTable)});
  for (std::size_t read = 0; read <= expected().size(); ++read) {
    ExampleStream begun(shards, {0}, as_text());
    Batch batch = begun.make_batch();
    while (batch.size() < read) ASSERT_TRUE(begun.read(batch));
    Cursor cursor;
    if (read > 0) {
      const Origin last = batch.origin(read - 1);
      cursor = {.bytes = last.end, .line = last.line, .position = read, .examples = read};
    }
    ExampleStream rest(shards, {0}, as_text(), {cursor});
    const std::vector<Read> all = expected();
    EXPECT_EQ(read_rest(rest), std::vector<Read>(all.begin() + static_cast<std::ptrdiff_t>(read), all.end())) << read;
  }
}

TEST_F(Tables, AreReadInPartsWhereNoFieldHasALineBreak) {
  std::string lines = "label,n\n";
  for (int i = 0; i < 100; ++i) lines += "l" + std::to_string(i) + ",\"" + std::to_string(i) + "\"\n";
  const auto parts_of = [](const std::string& path) {
    const Shard whole = find_shards({path}).at(0);
    std::vector<Shard> parts;
    for (std::uint32_t i = 0; i < 7; ++i) {
      parts.push_back(whole);
      parts.back().part = {i, 7};
    }
    return parts;
  };
  const std::vector<std::uint32_t> all{0, 1, 2, 3, 4, 5, 6};
  ExampleStream stream(parts_of(file("a.csv", lines)), all, {.order = ShardOrder::kSequential});
  const std::vector<Read> read = read_rest(stream);
  ASSERT_EQ(read.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(read[static_cast<std::size_t>(i)].label, "l" + std::to_string(i));

  // Wherever the break is, one of the parts sees it.
  for (int at = 0; at < 100; at += 9) {
    std::string broken = lines;
    const std::string record = "l" + std::to_string(at) + ",\"";
    broken.insert(broken.find("\n" + record) + record.size() + 1, "x\ny");
    ExampleStream of_parts(parts_of(file("b.csv", broken)), all, {.order = ShardOrder::kSequential});
    const std::string reason = error_of(Fault::kBadData, [&] { read_rest(of_parts); });
    EXPECT_NE(reason.find("expected no line break within a field of a file that is read in parts (--split)"),
              std::string::npos)
        << reason;
  }
}

TEST_F(Tables, TellThePlaceInARecordOfSeveralLines) {
  const std::string path = file("a.csv", "label,text,n\na,\"one\ntwo\",1\nb,\"x\ny\"z,2\nc,d,3\n");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}); }),
            path +
                ":5:3: expected the end of a field after its closing quote, found 'z'; the line was read as csv, a "
                "table whose columns the first line or --columns names");
  ExampleStream stream = stream_of({path}, skipping());
  EXPECT_EQ(labels_of(read_rest(stream)), "a c");
  EXPECT_EQ(stream.take_warnings(),
            std::vector<std::string>{"skipped: " + path +
                                     ":5:3: expected the end of a field after its closing quote, found 'z'"});
  const std::string open = file("b.csv", "label,text\na,b\nc,\"d\ne,f\n");
  EXPECT_NE(error_of(Fault::kBadData, [&] { read_all({open}); }).find(open + ":3:3: expected a field with a closing"),
            std::string::npos);
}

TEST_F(Tables, EndWithoutAHeaderThatCanBeRead) {
  const std::string twice = file("a.csv", "\nlabel,x,x\na,1,2\n");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({twice}, skipping()); }),
            twice +
                ":2:9: expected a column with a name of its own, found 'x'; --columns names those of a file without a "
                "header");
  const std::string other = file("b.csv", "ad,page\na,1\n");
  EXPECT_EQ(error_of(Fault::kUsage, [&] { read_all({other}, skipping()); }),
            other +
                ": expected the column 'label' (choose another with --label-column; --columns names those of a file "
                "without a header), found the columns 'ad', 'page'");
  EXPECT_TRUE(read_all({file("c.csv", "")}).empty());
  EXPECT_TRUE(read_all({file("d.csv", "label,x\n")}).empty());
}

TEST_F(Tables, OfOtherSeparatorsAreKnownByThem) {
  const auto refused = [&](const char* content, const ReadOptions& options, Fault fault) {
    return error_of(fault, [&] { read_all({file("a.csv", content)}, options); });
  };
  const std::string advice = "; values are separated by commas or tabs, not by ";
  EXPECT_THAT(refused("text;label\nx;a\n", {}, Fault::kUsage),
              EndsWith("found the columns 'text;label'" + advice + "';'"));
  EXPECT_THAT(refused("text|label\nx|a\n", {}, Fault::kUsage), EndsWith("'text|label'" + advice + "'|'"));
  EXPECT_THAT(refused("x;a\n", {.columns = {"text", "label"}}, Fault::kBadData),
              HasSubstr("found 1" + advice + "';'; "));
  EXPECT_THAT(refused("text;words\nx;a\n", {.fields = {.label = "text;words", .text = {"t"}}}, Fault::kUsage),
              EndsWith(advice + "';'"));
  EXPECT_THAT(refused("a;b,c\n", {}, Fault::kUsage), EndsWith("found the columns 'a;b', 'c'"));
}

// Else a record below it would be the header, and all before it lost.
TEST_F(Tables, EndWithoutAHeaderThatIsARecord) {
  const std::string open = file("a.csv", "label,\"x\na,1\nb,2\n");
  const std::string reason = ":1:7: expected a field with a closing quote, found '\"x\\x0aa,1\\x0ab,2'";
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({open}, skipping()); }), open + reason);
  Shard second = find_shards({open}).at(0);
  second.part = {1, 2};
  ExampleStream stream({second}, {0}, skipping());
  EXPECT_NE(error_of(Fault::kBadData, [&] { read_rest(stream); }).find("expected a field with a closing quote"),
            std::string::npos);
}

// ReadOptions::columns names the columns of tables without a header.
class TablesWithoutHeader : public Tables {
 protected:
  static ReadOptions named() {
    ReadOptions options = as_text();
    options.columns = {"label", "text", "n"};
    return options;
  }
  static std::string without_header(const std::string& table) { return table.substr(table.find('\n') + 1); }
};

TEST_F(TablesWithoutHeader, AreReadAsWithOne) {
  std::vector<Read> all = expected();
  for (Read& read : all) --read.line;
  EXPECT_EQ(read_all({file("a.csv", without_header(kTable))}, named()), all);
  EXPECT_EQ(read_all({file("a", "\n" + without_header(kTable))}, named()), expected()) << "whatever its name is";
  EXPECT_EQ(labels_of(read_all({file("b", "a\tone, two\t1\nb\t\t2\n")}, named())), "a b") << "separated by tabs";
}

TEST_F(TablesWithoutHeader, GoOnAtACursorAndAreReadInParts) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "l" + std::to_string(i) + "\tx,y\t" + std::to_string(i) + "\n";
  const Shard whole = find_shards({file("a.tsv", lines)}).at(0);
  const std::vector<Read> all = read_all({whole.path}, named());
  ASSERT_EQ(all.size(), 100U);
  const std::size_t of_ten = lines.find("l10\t");
  ExampleStream rest({whole}, {0}, named(), {{.bytes = of_ten, .line = 10, .position = 10, .examples = 10}});
  EXPECT_EQ(read_rest(rest), std::vector<Read>(all.begin() + 10, all.end()));
  std::vector<Shard> parts(7, whole);
  for (std::uint32_t i = 0; i < 7; ++i) parts[i].part = {i, 7};
  ReadOptions options = named();
  options.order = ShardOrder::kSequential;
  ExampleStream stream(parts, {0, 1, 2, 3, 4, 5, 6}, options);
  EXPECT_EQ(labels_of(read_rest(stream)), labels_of(all));
}

TEST_F(TablesWithoutHeader, SkipABadFirstRecord) {
  const std::string path = file("a", "a,b\nc,d,1\n");
  EXPECT_NE(error_of(Fault::kBadData, [&] { read_all({path}, named()); })
                .find(path + ":1:4: expected 3 fields, which --columns names, found 2"),
            std::string::npos);
  ReadOptions options = named();
  options.skip_bad_lines = true;
  EXPECT_EQ(labels_of(read_all({path}, options)), "c");
}

TEST_F(TablesWithoutHeader, NeedTheColumnsThatOptionsName) {
  const std::string path = file("a", "a,b\n");
  EXPECT_EQ(
      error_of(Fault::kUsage,
               [&] {
                 read_all({path}, {.columns = {"ad", "page"}});
               }),
      path + ": expected the column 'label' (choose another with --label-column), found the columns 'ad', 'page'");
  EXPECT_EQ(error_of(Fault::kUsage,
                     [&] {
                       read_all({path}, {.columns = {"label", "x", "label"}});
                     }),
            path + ": --columns names 'label' twice");
}

// One answer per record, and one for the header.
TEST_F(Tables, ReturnForEveryRecord) {
  ReadOptions options = as_text();
  options.every_line = true;
  ExampleStream stream = stream_of({file("a.csv", kTable)}, options);
  Batch batch = stream.make_batch();
  std::vector<std::uint64_t> lines;
  while (stream.read(batch)) lines.push_back(stream.line().number);
  EXPECT_EQ(lines, (std::vector<std::uint64_t>{1, 2, 4, 5, 6, 9}));
  EXPECT_EQ(batch.size(), 4U);
}

TEST_F(Tables, AreSeenAtFirstLook) {
  const Shard shard = find_shards({file("a.csv", kTable)}).at(0);
  const FirstLook look = look_at(shard, as_text());
  EXPECT_EQ(look.format, Format::kCsv);
  EXPECT_EQ(look.profile.name_spaces, (std::vector<std::string>{"text", "n"}));
  const ShardPreview seen = preview(shard, as_text());
  EXPECT_EQ(seen.format, Format::kCsv);
  EXPECT_EQ(seen.label, "a");
  EXPECT_EQ(seen.line, 2U) << "where its record begins";
  EXPECT_EQ(seen.shown, (std::vector<std::string>{"text^one:1", "text^two:1", "n^n:1"}));
}

}  // namespace
}  // namespace cpt
