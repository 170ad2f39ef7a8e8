// MPI messages under way, and how MPI's errors become ours. For the mpi*.cpp files alone.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "comm/communicator.h"

namespace cpt {

// Throws Error(kFailed) with MPI's own text unless `code`, which `function` returned, is success.
void check_mpi(int code, const char* function);

// MPI counts are int; kMaxMessage keeps them far from its end.
int mpi_count(std::size_t bytes);

// Any number of MPI's own non-blocking operations; done when all of them are.
class MpiOperation : public Operation {
 public:
  // A new request, and how many bytes it must receive (kNotReceiving: none). The address is good until the next call.
  static constexpr int kNotReceiving = -1;
  MPI_Request* add(int expected = kNotReceiving);

  bool done() override;

 private:
  [[noreturn]] void refuse_failed() const;
  // A message that is too long is MPI's own error; one that is too short is not.
  void check_lengths() const;

  std::vector<MPI_Request> requests_;
  std::vector<int> expected_;         // by request
  std::vector<MPI_Status> statuses_;  // by request, of the last call of done()
};

}  // namespace cpt
