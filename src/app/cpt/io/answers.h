// Answers a command's input line by line, on one thread or on several, and prints the answers in input order: one line
// for each input line, always.
//
// A command passes an answerer: answerer(x, text) appends the answer to example x to `text`, or throws and appends
// nothing. Examples of one input line (MultiLabel::kSplit) come one after the other; their answers that are not empty
// are printed with tabs between them. A line without an example is answered by an empty line or, if InputLine::error
// gives a reason, by "error: " and the reason. An answerer returns a note, which tally(x, note) receives; tally is
// called on the caller's thread in input order. While the input is idle, the answers so far are written. If `out` is
// nullptr, nothing is printed, and the command uses the notes alone.
//
// As JSON (CommandInput::json) a line is an object: {"predictions": [...]}, a list of the answers, which append_json()
// makes; {"error": "..."} in place of "error: ...".
//
// The command must need every line; see CommandNeeds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/figures_json.h"
#include "data/pipeline/ordered_parallel_map.h"

namespace cpt {

using Text = fmt::memory_buffer;

// The output line of an input line.
class AnswerLine {
 public:
  AnswerLine(const OpenInput& input, const InputLine& line)
      : text_(input.lead_of(line)), is_json_(input.answers_in_json()), is_bad_(!line.error.empty()) {
    if (is_json_) {
      text_ += is_bad_ ? "\"error\": " + json_text(line.error, -1) : "\"predictions\": [";
    } else if (is_bad_) {
      text_ += "error: " + line.error;
    }
  }
  // The answer to the next example of the line.
  void add(std::string_view answer) {
    if (has_answer_ && !answer.empty()) text_ += is_json_ ? ", " : "\t";
    has_answer_ = has_answer_ || !answer.empty();
    text_ += answer;
  }
  void write(ResultWriter* out) {
    if (out == nullptr) return;
    if (is_json_) text_ += is_bad_ ? "}" : "]}";
    text_ += '\n';
    out->write(text_);
  }

 private:
  std::string text_;
  bool is_json_;
  bool is_bad_;
  bool has_answer_ = false;
};

// Appends a prediction as JSON. `label` is its text in JSON; `more`: further members of the object.
inline void append_json(std::string_view label, double probability, std::string_view more, Text& text) {
  fmt::format_to(std::back_inserter(text), "{{\"label\": {}, \"probability\": {:.6g}{}}}", label, probability, more);
}

// Chunk limits for examples that get this many predictions each, which stay in memory until they can be printed.
inline MapChunkLimits chunk_limits(std::uint64_t predictions) {
  constexpr std::uint64_t kMostPredictions = 4096;
  MapChunkLimits limits;
  limits.examples = std::clamp<std::uint64_t>(kMostPredictions / predictions, 1, limits.examples);
  return limits;
}

// The answerer may change the model from example to example.
template <class Answerer, class Tally>
void answer_on_one_thread(OpenInput& input, Answerer answerer, Tally tally, ResultWriter* out) {
  if (out != nullptr) input.on_input_idle([out] { out->flush(); });
  Text text;
  while (const Batch* line = input.next()) {
    AnswerLine answer(input, input.line());
    for (std::size_t i = 0; i < line->size(); ++i) {
      const ExampleView x = (*line)[i];
      text.clear();
      input.look_at(x, input.line());
      const auto note = answerer(x, text);
      tally(x, note);
      answer.add({text.data(), text.size()});
    }
    answer.write(out);
  }
  input.end_look();
  input.report_all_skipped();
}

// Uses threads + 2 threads: one reads and one prints. make_answerer() makes an answerer for each of the others;
// answerers may only read the data that they share. The output equals that of answer_on_one_thread(), errors included.
template <class MakeAnswerer, class Tally>
void answer_on_threads(OpenInput& input, std::size_t threads, MapChunkLimits limits, MakeAnswerer make_answerer,
                       Tally tally, ResultWriter* out) {
  using Answerer = std::invoke_result_t<MakeAnswerer>;
  using Note = std::invoke_result_t<Answerer&, const ExampleView&, Text&>;
  struct Answer {
    Note note;
    std::size_t end;  // in the text
  };
  struct Answers {
    Text text;
    std::vector<Answer> all;
  };
  std::vector<Answerer> answerers;
  for (std::size_t i = 0; i < threads; ++i) answerers.push_back(make_answerer());
  std::vector<Answers> answers(OrderedParallelMap::slots(threads));  // by slot
  const auto work = [&](std::size_t worker, std::size_t slot, const ExampleView& x) {
    auto& [text, all] = answers[slot];
    const Note note = answerers[worker](x, text);
    all.push_back({note, text.size()});
  };
  OrderedParallelMap ahead(input.take_stream(), threads, work, limits);
  while (const Chunk* chunk = ahead.next()) {
    input.report_skipped(chunk->bad_lines, chunk->warnings);
    auto& [text, all] = answers[chunk->slot];
    std::size_t next = 0;
    std::size_t begin = 0;
    for (const Chunk::Line& line : chunk->lines) {
      if (next + line.examples > chunk->done) break;
      AnswerLine answer(input, line.input);
      for (const std::size_t end = next + line.examples; next < end; ++next) {
        input.look_at(chunk->batch[next], line.input);
        tally(chunk->batch[next], all[next].note);
        answer.add({text.data() + begin, all[next].end - begin});
        begin = all[next].end;
      }
      answer.write(out);
    }
    chunk->failure.rethrow();
    if (chunk->input_waits && out != nullptr) out->flush();
    text.clear();
    all.clear();
  }
  input.end_look();
  input.report_all_skipped();
}

// Answers on one thread if `threads` is 1, otherwise on several.
template <class MakeAnswerer, class Tally>
void answer_all(OpenInput& input, std::size_t threads, MapChunkLimits limits, MakeAnswerer make_answerer, Tally tally,
                ResultWriter* out) {
  if (threads == 1) return answer_on_one_thread(input, make_answerer(), tally, out);
  answer_on_threads(input, threads, limits, make_answerer, tally, out);
}

}  // namespace cpt
