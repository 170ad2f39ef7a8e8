// How commands answer example by example, on one thread or on several, and print in the order of the input.
//
// An answerer says something of an example: answerer(x, text) appends what is to be printed of it, or throws and
// appends nothing, and returns a note of it for tally(x, note), which the caller's thread calls in the order of the
// input. As soon as the input has nothing more at hand, what was printed is written.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "data/pipeline/ordered_parallel_map.h"

namespace cpt {

using Text = fmt::memory_buffer;

// --threads, whose default is a thread for every core that this process may use.
CLI::Option* add_threads(CLI::App& command, std::size_t& threads);

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

// On threads + 2, of which two read and print. make_answerer() makes an answerer for each thread; they may only read
// what they share. The output is that of one thread, also where something throws.
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

// Chooses between them.
template <class MakeAnswerer, class Tally>
void answer_all(OpenInput& input, std::size_t threads, MapChunkLimits limits, MakeAnswerer make_answerer, Tally tally,
                ResultWriter& out) {
  if (threads == 1) return answer_on_one_thread(input, make_answerer(), tally, out);
  answer_on_threads(input, threads, limits, make_answerer, tally, out);
}

}  // namespace cpt
