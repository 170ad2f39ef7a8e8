#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "data/folder.h"
#include "data/read_ahead.h"
#include "data/reading.h"

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

TEST(Pipe, WithoutAWriterDoesNotHoldUpTheEnd) {
  const Folder folder;
  const Pipe pipe(folder);
  const ReadAhead ahead(stream_of({pipe.path()}));
}

TEST(Pipe, WithASilentWriterDoesNotHoldUpTheEnd) {
  const Folder folder;
  const Pipe pipe(folder);
  // Open for reading too, so that this open does not wait and the pipe never ends.
  const int writer = ::open(pipe.path().c_str(), O_RDWR);
  ASSERT_GE(writer, 0);
  {
    const std::string text = "a |f x\nb |f y\nc";
    ASSERT_EQ(::write(writer, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ReadAhead ahead(stream_of({pipe.path()}), {.examples = 1});
    const Batch* chunk = ahead.next();
    ASSERT_NE(chunk, nullptr);
    EXPECT_EQ((*chunk)[0].label, "a");
  }
  ::close(writer);
}

TEST(Pipe, StandardInputIsADash) {
  const Folder folder;
  const std::string path = folder.write("input", "a |f x\nb\n");
  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(path.c_str(), O_RDONLY);
  ASSERT_GE(file, 0);
  ::dup2(file, STDIN_FILENO);
  EXPECT_EQ(error_of(Fault::kBadData, [] { read_all({"-"}); }),
            "standard input:2:2: expected '|' before the features, found the end of the line");
  if (saved >= 0) ::dup2(saved, STDIN_FILENO);
  ::close(file);
  ::close(saved);
}

}  // namespace
}  // namespace cpt
