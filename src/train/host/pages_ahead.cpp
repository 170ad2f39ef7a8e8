#include "train/host/pages_ahead.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/zeroed_memory.h"

namespace cpt {

PagesAhead::PagesAhead(std::vector<std::span<std::byte>> memory) : memory_(std::move(memory)) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // It would only have saved time.
  }
}

PagesAhead::~PagesAhead() {
  stops_ = true;
  if (thread_.joinable()) thread_.join();
}

void PagesAhead::run() const {
  for (std::span<std::byte> rest : memory_) {
    while (!rest.empty()) {
      if (stops_) return;
      const std::size_t step = std::min(rest.size(), kHugePage);
      provide_pages(rest.first(step));
      rest = rest.subspan(step);
    }
  }
}

}  // namespace cpt
