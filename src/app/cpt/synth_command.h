// `cpt synth web-ads OUT`: a synthetic page/ad log with known P(y | x).
//
//   OUT/train/part-000.vw ...        the first 80 % of the events, line i of the log in shard i mod --shards
//   OUT/test/part-000.vw ...         the rest, dealt likewise
//   OUT/truth/train/part-000.txt ... beside each line, P(label | page, time), the shortest decimal that is this double
//   OUT/truth/test/part-000.txt ...
//
// A reader that takes a line of each shard in turn gets the events in order of time. OUT appears whole or not at all:
// it is written beside its name first. An OUT that holds anything is refused.
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_synth_command(CLI::App& program, Action& action);

}  // namespace cpt
