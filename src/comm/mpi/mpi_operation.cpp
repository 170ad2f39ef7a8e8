#include "comm/mpi/mpi_operation.h"

#include <string>

#include "core/checked.h"

namespace cpt {
namespace {

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace

void check_mpi(int code, const char* function) {
  if (code != MPI_SUCCESS) throw Error(Fault::kFailed, std::string(function) + ": " + error_text(code));
}

int mpi_count(std::size_t bytes) { return narrow<int>(bytes, "the length of a message"); }

MPI_Request* MpiOperation::add(int expected) {
  expected_.push_back(expected);
  requests_.push_back(MPI_REQUEST_NULL);
  return &requests_.back();
}

bool MpiOperation::done() {
  if (requests_.empty()) return true;
  int all_done = 0;
  statuses_.resize(requests_.size());
  const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_done, statuses_.data());
  if (code == MPI_ERR_IN_STATUS) refuse_failed();
  check_mpi(code, "MPI_Testall");
  if (all_done == 0) return false;
  check_lengths();
  requests_.clear();
  return true;
}

void MpiOperation::refuse_failed() const {
  for (const MPI_Status& status : statuses_) {
    if (status.MPI_ERROR != MPI_ERR_PENDING) check_mpi(status.MPI_ERROR, "a message");
  }
  throw Error(Fault::kFailed, "MPI_Testall reports an error that no message has");
}

void MpiOperation::check_lengths() const {
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (expected_[i] == kNotReceiving) continue;
    int received = 0;
    check_mpi(MPI_Get_count(&statuses_[i], MPI_BYTE, &received), "MPI_Get_count");
    if (received == expected_[i]) continue;
    throw Error(Fault::kFailed, "exchange: rank " + std::to_string(statuses_[i].MPI_SOURCE) + " sent " +
                                    std::to_string(received) + " bytes where " + std::to_string(expected_[i]) +
                                    " were expected");
  }
}

}  // namespace cpt
