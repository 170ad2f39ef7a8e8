#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "data/fifo.h"
#include "data/folder.h"
#include "data/packed.h"
#include "data/pipeline/read_ahead.h"
#include "data/reading.h"
#include "data/source/byte_source.h"

namespace cpt {
namespace {

class Pipe {
 public:
  explicit Pipe(const Folder& folder) : path_(folder.path("pipe")) {
    if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
  }
  const std::string& path() const { return path_; }

  // Writes byte by byte in the background once someone reads, then closes.
  std::thread write(std::string content) const {
    return std::thread([path = path_, content = std::move(content)] {
      const int pipe = ::open(path.c_str(), O_WRONLY);
      for (const char& byte : content) EXPECT_EQ(::write(pipe, &byte, 1), 1);
      ::close(pipe);
    });
  }

 private:
  std::string path_;
};

TEST(Pipe, IsReadLikeAFile) {
  for (const std::string& content : {std::string("a |f x\nb |f y"), gzip("a |f x\nb |f y"), zstd("a |f x\nb |f y")}) {
    const Folder folder;
    const Pipe pipe(folder);
    std::thread writer = pipe.write(content);
    const auto examples = read_all({pipe.path()});
    writer.join();
    EXPECT_EQ(examples, read_all({folder.write("file", "a |f x\nb |f y\n")}));
  }
}

// What a writer has flushed that goes on later, more than a decompressor hands out at a time.
std::string flushed_zstd(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0U);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

TEST(Pipe, GivesAllThatIsThereBeforeItWaitsForMore) {
  std::string text;
  for (int i = 0; text.size() < 100'000; ++i) text += "l" + std::to_string(i % 7) + " |f w" + std::to_string(i) + "\n";
  const std::string gzipped = gzip(text);
  for (const std::string& content : {flushed_zstd(text), gzipped.substr(0, gzipped.size() - 8)}) {
    const Folder folder;
    Fifo pipe(folder.path("pipe"));
    pipe.write(content);
    const auto control = std::make_shared<ReadControl>();
    std::size_t read = 0;
    std::optional<std::size_t> read_before_waiting;
    control->on_input_idle = [&] {
      read_before_waiting = read;
      control->stop = true;
    };
    const auto source = open_bytes(pipe.path(), control);
    std::vector<char> space(1000);
    try {
      while (const std::size_t count = source->read(space)) read += count;
    } catch (const CorruptInput&) {  // it was told to stop in the middle
    }
    EXPECT_EQ(read_before_waiting, text.size());
  }
}

// Such as that the output is closed, which is not the input's fault, whatever its format.
TEST(Pipe, WhatIsThrownBeforeItWaitsIsToldAsItIs) {
  for (const Format format : {Format::kAuto, Format::kVw, Format::kBinary}) {
    const Folder folder;
    Fifo pipe(folder.path("pipe"));
    for (const std::string& content : {std::string(), std::string("\x89"), std::string("a |f x\n")}) {
      if (format == Format::kBinary && content.ends_with('\n')) continue;  // not what was expected, so no wait for more
      pipe.write(content);
      ExampleStream stream = stream_of({pipe.path()}, {.format = format});
      stream.on_input_idle([] { throw Error(Fault::kCannotWrite, "output closed"); });
      EXPECT_EQ(error_of(Fault::kCannotWrite, [&] { read_rest(stream); }), "output closed");
    }
  }
}

TEST(Pipe, WithoutAWriterDoesNotHoldUpTheEnd) {
  const Folder folder;
  const Pipe pipe(folder);
  const ReadAhead ahead(stream_of({pipe.path()}));
}

TEST(Pipe, WithASilentWriterDoesNotHoldUpTheEnd) {
  const Folder folder;
  Fifo pipe(folder.path("pipe"));
  pipe.write("a |f x\nb |f y\nc");
  ReadAhead ahead(stream_of({pipe.path()}), {.examples = 1});
  const Batch* chunk = ahead.next();
  ASSERT_NE(chunk, nullptr);
  EXPECT_EQ((*chunk)[0].label, "a");
}

TEST(Pipe, StandardInputIsADash) {
  const Folder folder;
  const std::string path = folder.write("input", "a |f x\nb\n");
  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(path.c_str(), O_RDONLY);
  ASSERT_GE(file, 0);
  ::dup2(file, STDIN_FILENO);
  EXPECT_EQ(error_of(Fault::kBadData, [] { read_all({"-"}); }),
            "standard input:2:2: expected '|' before the features, found the end of the line" + read_as(Format::kVw));
  if (saved >= 0) ::dup2(saved, STDIN_FILENO);
  ::close(file);
  ::close(saved);
}

}  // namespace
}  // namespace cpt
