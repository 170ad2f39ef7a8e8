#include "python/binding/many.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <thread>

#include "model/learning/learner.h"

namespace cpt::python {

namespace {

constexpr std::size_t kLearnedTogether = 4096;  // between two looks whether Ctrl-C was pressed
constexpr std::size_t kReadTogether = 16384;    // rows that need Python, read before they are predicted
constexpr std::size_t kBlock = 4;               // rows that a thread takes at a time: one may take long
constexpr auto kPredictedTogether = std::chrono::milliseconds(100);  // between two looks whether Ctrl-C was pressed

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::vector<std::string> label_texts(const py::list& labels) {
  std::vector<std::string> texts;
  texts.reserve(labels.size());
  for (const py::handle label : labels) {
    try {
      texts.push_back(label_text(label));
    } catch (const py::type_error& error) {
      throw py::type_error("row " + std::to_string(texts.size()) + ": " + error.what());
    } catch (const BadExample& error) {
      throw BadRow(texts.size(), 0, error.what());
    }
  }
  return texts;
}

void throw_if_interrupted() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// The labels and importances that stand beside the rows.
class Annotations {
 public:
  Annotations(std::size_t rows, const py::object& labels, const py::object& importances) {
    if (!labels.is_none()) labels_ = label_texts(py::list(labels));
    if (!importances.is_none()) importances_ = py::cast<Numbers>(importances);
    if ((labels_ && labels_->size() != rows) ||
        (importances_ && static_cast<std::size_t>(importances_->size()) != rows)) {
      throw py::value_error("expected a label, and an importance if any, for each of " + std::to_string(rows) +
                            " rows");
    }
  }
  Annotation of(std::size_t row) const {
    Annotation note{.label_required = true};
    if (labels_) note.label = (*labels_)[row];
    if (importances_) note.importance = importances_->data()[row];
    return note;
  }

 private:
  std::optional<std::vector<std::string>> labels_;
  std::optional<Numbers> importances_;
};

// Replaces the content of the batch by the examples of the rows [begin, end). Returns the exception that stopped it;
// null if none did.
std::exception_ptr read_rows(const Rows& rows, std::size_t begin, std::size_t end,
                             const std::function<Annotation(std::size_t)>& note, Scratch& scratch, Batch& batch) {
  batch.clear();
  try {
    for (std::size_t row = begin; row < end; ++row) rows.append(row, note(row), scratch, batch);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Reads rows that are learned together.
class PartReader {
 public:
  // Borrows all. Readers that take turns share `scratch`, which detects the format of lines once.
  PartReader(const Rows& rows, const Annotations& annotations, Scratch& scratch)
      : rows_(&rows), annotations_(&annotations), scratch_(&scratch), batch_(scratch.reader.make_batch()) {}

  // Reads rows from `begin` on; none if `begin` is after the last row.
  void read(std::size_t begin) {
    const std::size_t end = std::min(rows_->size(), begin + kLearnedTogether);
    const auto note = [this](std::size_t row) { return annotations_->of(row); };
    failure_ = read_rows(*rows_, begin, end, note, *scratch_, batch_);
  }
  const Batch& batch() const { return batch_; }
  const std::exception_ptr& failure() const { return failure_; }

 private:
  const Rows* rows_;
  const Annotations* annotations_;
  Scratch* scratch_;
  Batch batch_;
  std::exception_ptr failure_;
};

double learn_one(Model& model, const ExampleView& x) {
  return x.importance > 0 ? model.learn(x) : model.probability(x, x.label);
}

void learn_part(Model& model, const Batch& batch, std::size_t first_row, std::span<double> results) {
  bool together = true;
  for (std::size_t i = 0; i < batch.size() && together; ++i) {
    together = batch[i].importance > 0 && model.takes_label(batch[i]);
  }
  if (together) {
    std::ranges::copy(model.learn(batch), results.begin());
    return;
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!model.takes_label(batch[i])) {
      throw BadRow(first_row + i, 0, "expected one of the labels that the model was begun with, found another");
    }
    results[i] = learn_one(model, batch[i]);
  }
}

// Calls each(row, example) for rows from `begin` on, on several threads, until kPredictedTogether has passed. The
// examples are those of `batch`, which begins with row `batch_begin`; if it is null, they are read from the rows.
class InParallel {
 public:
  using Each = std::function<void(std::size_t, const ExampleView&)>;

  InParallel(const Model& model, const Rows& rows, const Batch* batch, std::size_t batch_begin, Each each)
      : model_(model), rows_(rows), batch_(batch), batch_begin_(batch_begin), each_(std::move(each)) {}

  // Returns the row before which it stopped, at most `end`. Throws the error of the first row that has one.
  std::size_t run(std::size_t begin, std::size_t end, std::size_t threads) {
    next_ = begin;
    begin_ = begin;
    end_ = end;
    until_ = std::chrono::steady_clock::now() + kPredictedTogether;
    const std::size_t blocks = (end - begin + kBlock - 1) / kBlock;
    std::vector<std::thread> others;
    try {
      for (std::size_t t = 1; t < std::min(threads, blocks); ++t) others.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the threads that could be started do the work
    }
    work();
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::min(next_.load(), end);
  }

 private:
  void work() {
    std::size_t row = begin_;
    try {
      Scratch scratch(model_);
      Batch own = scratch.reader.make_batch();
      for (std::size_t first; (first = next_.fetch_add(kBlock)) < end_;) {
        for (row = first; row < std::min(first + kBlock, end_); ++row) {
          own.clear();
          if (batch_ == nullptr) rows_.append(row, {}, scratch, own);
          each_(row, batch_ == nullptr ? own[0] : (*batch_)[row - batch_begin_]);
        }
        if (std::chrono::steady_clock::now() >= until_) return;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_ || row < failed_row_) {
        failure_ = std::current_exception();
        failed_row_ = row;
      }
      // Rows before this block are taken already, so the first row that fails is found.
      next_ = end_;
    }
  }

  const Model& model_;
  const Rows& rows_;
  const Batch* batch_;
  std::size_t batch_begin_;
  Each each_;
  std::atomic<std::size_t> next_{0};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::chrono::steady_clock::time_point until_{};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::size_t failed_row_ = 0;
};

template <class Each>
void for_each_row(const LockedModel& locked, const Rows& rows, std::size_t threads, Each each) {
  if (threads == 0) throw py::value_error("expected at least one thread");
  Scratch scratch = locked.make_scratch();
  Batch batch = scratch.reader.make_batch();
  const auto no_note = [](std::size_t) { return Annotation{}; };
  std::size_t begin = 0;
  std::size_t end = rows.needs_python() ? 0 : rows.size();
  for (std::size_t next = 0; next < rows.size();) {
    if (next == end) {
      begin = end;
      end = std::min(rows.size(), begin + kReadTogether);
      if (const auto failure = read_rows(rows, begin, end, no_note, scratch, batch)) std::rethrow_exception(failure);
    }
    next = locked.read([&](const Model& model) {
      const auto each_of_model = [&](std::size_t row, const ExampleView& x) { each(model, row, x); };
      return InParallel(model, rows, rows.needs_python() ? &batch : nullptr, begin, each_of_model)
          .run(next, end, threads);
    });
    throw_if_interrupted();
  }
}

// (rows, columns), full of `value`. Throws ValueError for a table that no memory could hold.
template <class T>
py::array_t<T> make_table(std::size_t rows, std::size_t columns, T value) {
  if (columns > 0 && rows > (std::size_t{1} << 48) / columns) {
    throw py::value_error("expected a result that fits into memory, found " + std::to_string(rows) + " rows of " +
                          std::to_string(columns));
  }
  py::array_t<T> table({rows, columns});
  std::fill_n(table.mutable_data(), rows * columns, value);
  return table;
}

}  // namespace

py::array_t<double> learn_many(LockedModel& locked, const Rows& rows, const py::object& labels,
                               const py::object& importances) {
  const Annotations annotations(rows.size(), labels, importances);
  py::array_t<double> results(static_cast<py::ssize_t>(rows.size()));
  const std::span<double> all(results.mutable_data(), rows.size());
  Scratch scratch = locked.make_scratch();
  PartReader now(rows, annotations, scratch);
  PartReader next(rows, annotations, scratch);
  if (rows.needs_python()) {
    now.read(0);
  } else {
    const GilRelease released;
    now.read(0);
  }
  for (std::size_t begin = 0; begin < rows.size(); begin += kLearnedTogether) {
    const std::size_t end = begin + kLearnedTogether;
    locked.change([&](Model& model) {
      std::future<void> ahead;
      if (!rows.needs_python() && !now.failure()) ahead = std::async([&] { next.read(end); });
      learn_part(model, now.batch(), begin, all.subspan(begin));
      if (ahead.valid()) ahead.get();
    });
    if (now.failure()) std::rethrow_exception(now.failure());
    throw_if_interrupted();
    if (rows.needs_python()) next.read(end);
    std::swap(now, next);
  }
  return results;
}

py::array_t<double> probabilities(const LockedModel& locked, const Rows& rows, const py::list& labels, bool per_row,
                                  std::size_t width, std::size_t threads) {
  const std::vector<std::string> texts = label_texts(labels);
  py::array_t<double> table = make_table<double>(rows.size(), width, 0);
  if (texts.size() != width * (per_row ? rows.size() : 1)) {
    throw py::value_error("expected labels for each of " + std::to_string(rows.size()) + " rows, found those of " +
                          std::to_string(width == 0 ? 0 : texts.size() / width));
  }
  double* const out = table.mutable_data();
  for_each_row(locked, rows, threads, [&](const Model& model, std::size_t row, const ExampleView& x) {
    const std::span of_row = std::span(texts).subspan(per_row ? row * width : 0, width);
    if (width == 1) {
      out[row] = model.probability(x, of_row[0]);
    } else {
      std::ranges::copy(model.probabilities(x, of_row), out + row * width);
    }
  });
  return table;
}

py::array_t<double> all_probabilities(const LockedModel& locked, const Rows& rows, std::size_t labels,
                                      std::size_t threads) {
  py::array_t<double> table = make_table<double>(rows.size(), labels, 0);
  double* const out = table.mutable_data();
  for_each_row(locked, rows, threads, [&](const Model& model, std::size_t row, const ExampleView& x) {
    const std::vector<double> all = model.learner().all_probabilities(x);
    std::ranges::copy(std::span(all).first(std::min(labels, all.size())), out + row * labels);
  });
  return table;
}

py::tuple top_k_many(const LockedModel& locked, const Rows& rows, std::size_t k, double threshold,
                     std::size_t threads) {
  py::array_t<std::int64_t> labels = make_table<std::int64_t>(rows.size(), k, -1);
  py::array_t<double> table = make_table<double>(rows.size(), k, 0);
  std::int64_t* const numbers = labels.mutable_data();
  double* const out = table.mutable_data();
  for_each_row(locked, rows, threads, [&](const Model& model, std::size_t row, const ExampleView& x) {
    std::size_t at = row * k;
    for (const Prediction& best : model.top_k(x, k, threshold)) {
      numbers[at] = static_cast<std::int64_t>(best.number);
      out[at++] = best.probability;
    }
  });
  return py::make_tuple(labels, table);
}

}  // namespace cpt::python
