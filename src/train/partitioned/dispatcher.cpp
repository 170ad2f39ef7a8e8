#include "train/partitioned/dispatcher.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/checked.h"

namespace cpt {

void Dispatcher::read(BatchReader& reader, std::uint64_t first, std::uint64_t end, const Ways& ways,
                      RoundHeader& news) {
  for (std::size_t rank = 0; rank < writers_.size(); ++rank) writers_[rank].begin(ways.messages[rank]);
  ways.shelf.begin_round();
  std::uint64_t shards_at_last_position = 0;
  std::uint64_t index_in_line = 0;
  Origin last{0, 0, ~std::uint64_t{0}};
  for (Slice slice = reader.next_before(end); slice.size() > 0; slice = reader.next_before(end)) {
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const ExampleView x = (*slice.batch)[i];
      labels_.prefetch(*slice.batch, i, slice.end);
      const bool same_line = x.origin.position == last.position && x.origin.shard == last.shard;
      index_in_line = same_line ? index_in_line + 1 : 0;
      if (x.origin.position != last.position) shards_at_last_position = 0;
      if (!same_line) ++shards_at_last_position;
      last = x.origin;
      news.features += x.features.size();
      const auto slot = narrow<std::uint32_t>(news.examples++, "the examples of a rank in a round");
      const std::uint64_t order = make_order(x.origin.position - first, x.origin.shard, index_in_line);
      RoutedExample arrival{.order = order, .slot = slot, .label = learner_.find(x), .example = {}};
      send(x, arrival, ways);
    }
  }
  for (ExampleWriter& writer : writers_) writer.end();
  ways.shelf.publish();
  news.active_shards = shards_at_last_position;
  news.ended = reader.ended() ? 1 : 0;
}

void Dispatcher::send(const ExampleView& x, RoutedExample& arrival, const Ways& ways) {
  places_.clear();
  if (arrival.label != kNoLabel) learner_.tree().positions(arrival.label, places_);
  arrival.lead_by(places_);
  const std::string_view name = arrival.label == kNoLabel ? x.label : std::string_view{};
  std::uint32_t place = SharedExampleRing::kNoPlace;  // until it lies on the shelf
  const auto write = [&](int rank) {
    const auto to = static_cast<std::size_t>(rank);
    const bool reads = ways.shelf.read_by(rank);
    if (reads && place == SharedExampleRing::kNoPlace) place = ways.shelf.put(arrival, x, places_, name);
    if (reads && place != SharedExampleRing::kNoPlace) {
      writers_[to].append(place);
    } else {
      writers_[to].append(arrival, x, places_, name);
    }
  };
  std::array<int, 3> to{};  // rank 0 for the root, then the owners at level 1 and below
  std::size_t stages = 1;
  for (const Partition partition : {arrival.level1, arrival.deep}) {
    if (partition != kNoPartition) to[stages++] = ways.owners[partition];
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    if (std::find(to.begin(), to.begin() + stage, to[stage]) == to.begin() + stage) write(to[stage]);
  }
}

}  // namespace cpt
