// Arrivals and tasks as messages.
//
//   routed_examples = placed (u32: how many), arrival*, places (u32 each)
//   arrival = position (varint: lines since the one before), shard (varint), index in its line (varint),
//             slot (varint: since the one before), label (varint: number + 1, or 0 where it is not known),
//             [name of the label (varint length, bytes) where it is not known], example (see example_packer.h)
//   tasks  = task*
//   task   = kind (u8, plus 128 where an example follows), partition (u16), details by kind,
//             [order (u64), slot (varint), label (varint: number + 1, or 0), example]
//             of several tasks of one example in a row, only the first carries it
//   details = kDraw: coins (u64), probability (f64); kSearch: probability (f64); kKnown: nothing;
//             kSettle: coins (u64), disagreements (varint); kOpen: split (varint), disagreements (varint)
//
// Examples that lie on the sender's shelf are told by their places there (see SharedExampleRing). They come before the
// others in order: where one finds no room on the shelf, no later one of the round does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "comm/buffer.h"
#include "train/partitioned/example/example_packer.h"
#include "train/partitioned/wire/partition_task.h"

namespace cpt {

class ExampleWriter {
 public:
  // What is written until end() goes to the end of this message.
  void begin(Buffer& message);
  // For a rank that reads this one's shelf: where the example lies there.
  void append(std::uint32_t place) { places_.push_back(place); }
  // The example itself; `name` of the label where head.label is kNoLabel.
  void append(const RoutedExample& head, const ExampleView& x, std::span<const std::uint8_t> places,
              std::string_view name);
  void end();

 private:
  Buffer* message_ = nullptr;
  std::size_t begin_ = 0;  // in it
  RoutedExample last_;
  std::vector<std::uint32_t> places_;
};

// One message, which must outlive the writer.
class TaskWriter {
 public:
  explicit TaskWriter(Buffer& message) : message_(&message) {}
  void append(const PartitionTask& task);

 private:
  Buffer* message_;
  std::uint64_t last_order_ = ~std::uint64_t{0};
};

struct ArrivalMessage {
  ConstBytes bytes;
  std::uint32_t first_slot = 0;  // to be added to its slots
  ConstBytes shelf = {};         // of its sender; empty where this rank does not read it
};

// Reads messages and keeps the examples that travelled in them: those are good until clear(). Those on a shelf are good
// as long as SharedExampleRing says.
class MessageReader {
 public:
  // Appends what is in the messages, one after another, and where that of each ends. Throws Error(kFailed) if a message
  // makes no sense.
  void read_examples(const std::vector<ArrivalMessage>& messages, std::vector<RoutedExample>& routed_examples,
                     std::vector<std::size_t>& ends);
  void read_tasks(const std::vector<ConstBytes>& messages, std::vector<PartitionTask>& tasks,
                  std::vector<std::size_t>& ends);
  void clear() { examples_.clear(); }

 private:
  void read_packed(ByteReader in, std::uint32_t first_slot, std::vector<RoutedExample>& routed_examples);
  RoutedExample read_packed(ByteReader& in, const RoutedExample& last);
  PartitionTask read_visit(ByteReader& in, const PartitionTask& last);

  UnpackedExamples examples_;
};

}  // namespace cpt
