#include "train/partitioned/dispatcher.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/checked.h"

namespace cpt {

void Dispatcher::read(BatchReader& reader, std::uint64_t first, const StreamOffset& end, const Destinations& to,
                      RoundHeader& header, RoundLedger& ledger, bool learning) {
  FeatureCounts& counts = learner_.feature_counts();
  for (std::size_t rank = 0; rank < writers_.size(); ++rank) writers_[rank].begin(to.messages[rank]);
  to.ring.begin_round();
  std::uint64_t shards_at_last_position = 0;
  std::uint64_t index_in_line = 0;
  Origin last{0, 0, ~std::uint64_t{0}};
  for (Slice slice = reader.next_before(end); slice.size() > 0; slice = reader.next_before(end)) {
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const ExampleView x = (*slice.batch)[i];
      labels_.prefetch(*slice.batch, i, slice.end);
      if (counts.used()) {
        if (i + kCountsAhead < slice.end) counts.prefetch((*slice.batch)[i + kCountsAhead]);
        counts.look_up(x.features, rarities_);
        if (learning) counts.add(x.features, x.values);
      }
      const bool same_line = x.origin.position == last.position && x.origin.shard == last.shard;
      index_in_line = same_line ? index_in_line + 1 : 0;
      if (x.origin.position != last.position) shards_at_last_position = 0;
      if (!same_line) ++shards_at_last_position;
      last = x.origin;
      header.features += x.features.size();
      const auto slot = narrow<std::uint32_t>(header.examples++, "the examples of a rank in a round");
      const std::uint64_t order = make_order(x.origin.position - first, x.origin.shard, index_in_line);
      RoutedExample example{.order = order, .slot = slot, .label = learner_.find(x), .example = {}};
      ledger.add(order, x.importance, example.label);
      for (std::size_t tree = 0; tree < learner_.trees().size(); ++tree) send(x, tree, example, to);
    }
  }
  for (ExampleWriter& writer : writers_) writer.end();
  to.ring.publish();
  // If `end` cuts a position, this rank has not seen all shards that have it.
  header.active_shards = end.shard == 0 ? shards_at_last_position : 0;
  header.ended = reader.ended() ? 1 : 0;
}

void Dispatcher::send(const ExampleView& x, std::size_t tree, RoutedExample& example, const Destinations& to) {
  path_.clear();
  if (example.label != kNoLabel) learner_.tree(tree).positions(example.label, path_);
  example.tree = static_cast<std::uint32_t>(tree);
  example.route_by(path_);
  const std::string_view name = example.label == kNoLabel ? x.label : std::string_view{};
  const ExampleRecord::Parts parts{x, path_, name, rarities_};
  std::uint32_t offset = SharedExampleRing::kNoOffset;  // until it is in the ring
  const auto write = [&](int rank) {
    ExampleWriter& writer = writers_[static_cast<std::size_t>(rank)];
    const bool reads = to.ring.read_by(rank);
    if (reads && offset == SharedExampleRing::kNoOffset) offset = to.ring.put(example, parts);
    if (reads && offset != SharedExampleRing::kNoOffset) {
      writer.append(offset);
    } else {
      writer.append(example, parts);
    }
  };
  const bool stays = copies_of_ && example.label != kNoLabel;
  // Of the root, then at level 1 and below.
  std::array<int, 3> ranks{stays ? *copies_of_ : to.owners[root_partition(tree)]};
  std::size_t stages = 1;
  for (const Partition partition : {example.level1, example.deep}) {
    if (partition != kNoPartition) ranks[stages++] = to.owners[partition];
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    if (std::find(ranks.begin(), ranks.begin() + stage, ranks[stage]) == ranks.begin() + stage) write(ranks[stage]);
  }
}

}  // namespace cpt
