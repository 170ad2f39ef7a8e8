#include "train/local/local_loop.h"

#include "api/options/option_values.h"

namespace cpt {

std::uint64_t run_alone(const TrainingOptions& options, bool learning, InOrder& in_order, BatchReader& reader,
                        Progress& progress, Renewals& renewals, SafePoint& safe_point) {
  const auto pause_if_requested = [&] {
    const std::uint64_t requests = safe_point.requests();
    if (requests != 0 && reader.at_line_end()) safe_point.pause(requests, reader.cursors());
  };
  reader.call_while_waiting(pause_if_requested);
  for (;;) {
    Slice slice = reader.next_before(renewals.next(), progress.until_report());
    if (slice.size() == 0 && !reader.ended()) {
      renewals.stop_at(renewals.next(), reader);
      if (renewals.validation_due()) return reader.bad_lines();
      continue;
    }
    for (const std::string& warning : reader.take_warnings()) progress.warn(warning);
    if (const auto excess = excess_of_bad_lines(reader.bad_lines(), options.most_bad_lines)) throw *excess;
    if (slice.size() == 0) return reader.bad_lines();
    if (learning) {
      in_order.learn_online(slice, progress.losses());
    } else {
      in_order.predict_only(slice, progress.losses());
    }
    progress.count_rounds(slice.size());
    progress.advance(slice.size());
    progress.show(reader.part_read());
    if (progress.stretch_due()) progress.report_stretch(reader.part_read());
    progress.rethrow_failure();
    pause_if_requested();
  }
}

}  // namespace cpt
