// The interpreter's lock, released for a while.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

namespace cpt::python {

// Like py::gil_scoped_release, but safe for daemon threads. If the interpreter has ended when such a thread returns to
// it, Python ends the thread by an exception, which must not pass through destructors: the thread waits here for the
// end of the process.
class GilRelease {
 public:
  GilRelease() : thread_(PyEval_SaveThread()) {}
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease() {
    try {
      PyEval_RestoreThread(thread_);
    } catch (...) {
      for (;;) ::pause();
    }
  }

 private:
  PyThreadState* thread_;
};

}  // namespace cpt::python
