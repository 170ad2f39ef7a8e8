// The content of the golden files as text: the test compares what it reads from them with the figures recorded when
// they were written. Paths in them are relative, so both the test and the program that made them run in their
// directory.
#pragma once

#include <string>

#include "cpt/model.h"
#include "cpt/trainer.h"

namespace cpt::golden {

inline constexpr const char* kModel = "model";
inline constexpr const char* kModelFigures = "model.txt";

// A run that was cut off in the middle of a shard, with one checkpoint.
struct Run {
  const char* name;  // its checkpoints are in NAME/, its figures are in NAME.txt
  Placement placement;
  int ranks;  // that wrote it
  Method method = Method::kTree;
  int arity = 2;
  int bits = 12;
  int trees = 1;
};
inline constexpr Run kRuns[] = {{"partitioned", Placement::kPartitioned, 3}, {"replicated", Placement::kReplicated, 2}};
// With 20 bits partitions have segments of their own.
inline constexpr Run kMethodRuns[] = {{"cpecoc-4", Placement::kPartitioned, 3, Method::kConditionalPecoc, 4},
                                      {"cpecoc-16", Placement::kPartitioned, 2, Method::kConditionalPecoc, 16, 20},
                                      {"oaa", Placement::kReplicated, 2, Method::kOneAgainstAll},
                                      {"pecoc", Placement::kReplicated, 1, Method::kPecoc},
                                      {"table", Placement::kReplicated, 2, Method::kTable}};

// Since v3.
inline constexpr Run kTreesRun = {"trees", Placement::kPartitioned, 3, Method::kTree, 2, 12, 2};
// Since v8.
inline constexpr Run kHybridRun = {"hybrid", Placement::kHybrid, 3};

// Of a run whose model is kept, too, at its end on one rank.
std::string model_of(const Run& run);          // a folder
std::string model_figures_of(const Run& run);  // a file

TrainingOptions options_of(const Run& run);

// Digests, labels, and the probabilities of all of them for some examples, as hexadecimal floating-point numbers.
std::string figures(const Model& model);
// Of a run that has ended.
std::string figures(const Summary& summary);

}  // namespace cpt::golden
