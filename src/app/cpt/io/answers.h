// Answers a command's examples one by one, on one thread or on several, and prints the answers in input order.
//
// A command passes an answerer: answerer(x, text) appends the answer to example x to `text`, or throws and appends
// nothing. It returns a note, which tally(x, note) receives; tally is called on the caller's thread in input order.
// While the input is idle, the answers so far are written.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "data/pipeline/ordered_parallel_map.h"

namespace cpt {

using Text = fmt::memory_buffer;

// The answerer may change the model from example to example.
template <class Answerer, class Tally>
void answer_on_one_thread(OpenInput& input, Answerer answerer, Tally tally, ResultWriter& out) {
  input.on_input_idle([&out] { out.flush(); });
  Text text;
  while (const Batch* line = input.next()) {
    for (std::size_t i = 0; i < line->size(); ++i) {
      const ExampleView x = (*line)[i];
      text.clear();
      const auto note = answerer(x, text);
      tally(x, note);
      out.write({text.data(), text.size()});
    }
  }
}

// Uses threads + 2 threads: one reads and one prints. make_answerer() makes an answerer for each of the others;
// answerers may only read the data that they share. The output equals that of answer_on_one_thread(), errors included.
template <class MakeAnswerer, class Tally>
void answer_on_threads(OpenInput& input, std::size_t threads, MapChunkLimits limits, MakeAnswerer make_answerer,
                       Tally tally, ResultWriter& out) {
  using Answerer = std::invoke_result_t<MakeAnswerer>;
  using Note = std::invoke_result_t<Answerer&, const ExampleView&, Text&>;
  struct Answers {
    Text text;
    std::vector<Note> notes;
  };
  std::vector<Answerer> answerers;
  for (std::size_t i = 0; i < threads; ++i) answerers.push_back(make_answerer());
  std::vector<Answers> answers(OrderedParallelMap::slots(threads));  // by slot
  const auto work = [&](std::size_t worker, std::size_t slot, const ExampleView& x) {
    answers[slot].notes.push_back(answerers[worker](x, answers[slot].text));
  };
  OrderedParallelMap ahead(input.take_stream(), threads, work, limits);
  while (const Chunk* chunk = ahead.next()) {
    input.report_skipped(chunk->error_lines, chunk->warnings);
    auto& [text, notes] = answers[chunk->slot];
    for (std::size_t i = 0; i < chunk->done; ++i) tally(chunk->batch[i], notes[i]);
    out.write({text.data(), text.size()});
    chunk->failure.rethrow();
    if (chunk->input_waits) out.flush();
    text.clear();
    notes.clear();
  }
}

// Answers on one thread if `threads` is 1, otherwise on several.
template <class MakeAnswerer, class Tally>
void answer_all(OpenInput& input, std::size_t threads, MapChunkLimits limits, MakeAnswerer make_answerer, Tally tally,
                ResultWriter& out) {
  if (threads == 1) return answer_on_one_thread(input, make_answerer(), tally, out);
  answer_on_threads(input, threads, limits, make_answerer, tally, out);
}

}  // namespace cpt
