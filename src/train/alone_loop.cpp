#include "train/alone_loop.h"

#include "train/bad_lines.h"

namespace cpt {

std::uint64_t run_alone(const TrainingOptions& options, bool learning, InOrder& in_order, Feed& feed,
                        Progress& progress, Pauses& pauses) {
  const auto pause_if_wished = [&] {
    const std::uint64_t wishes = pauses.wishes();
    if (wishes != 0 && feed.at_line_end()) pauses.pause(wishes, feed.cursors());
  };
  feed.call_while_waiting(pause_if_wished);
  for (;;) {
    const Slice slice = feed.next(progress.until_report());
    for (const std::string& warning : feed.take_warnings()) progress.warn(warning);
    if (const auto excess = excess_of_bad_lines(feed.error_lines(), options.most_bad_lines)) throw *excess;
    if (slice.size() == 0) return feed.error_lines();
    if (learning) {
      in_order.learn_settling(slice, progress.losses());
    } else {
      in_order.predict_only(slice, progress.losses());
    }
    progress.count_rounds(slice.size());
    progress.advance(slice.size());
    progress.show(feed.part_read());
    progress.rethrow_failure();
    pause_if_wished();
  }
}

}  // namespace cpt
