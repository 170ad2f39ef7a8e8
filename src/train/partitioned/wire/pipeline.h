// The steps of a round in the partitioned placement, and the depths that follow from their number.
//
// A round takes five steps, which overlap those of the rounds before and after it. Each step starts what a later one
// waits for:
//   read     each rank reads its part of the round, and sends each example to the owners on its path
//   root     rank 0 leads the examples through the root, in order; those whose path was unknown go on as tasks
//   level 1  the next owners on their path lead them through theirs: level-1 partitions, or deep ones below rank 0's
//   deep     the last owners lead them through theirs; the results go to rank 0
//            (consecutive partitions of one owner are passed in one step, the first one's: see Stage)
//   close    rank 0 counts the losses in order and inserts new labels; all ranks receive these changes of the tree with
//            the root's tasks of a later round
//
// A rank that reads round m is in step m, say, and has ended step m - 1, where it waited for what all ranks read in
// step m - 2. So all ranks have ended step m - 3. Where nothing is read any more, the results of the last round wait
// for what all ranks sent in the step before, and all ranks meet before anything is read again.
#pragma once

#include <cstddef>

namespace cpt {

// Steps of a round.
inline constexpr std::size_t kPipelineDepth = 5;

// The last step in which an owner looks at an example, counted from the one that reads it: the deep stage.
inline constexpr std::size_t kLastUseOfExample = kPipelineDepth - 2;
// Every rank has ended all steps up to this many before the one that any rank is in.
inline constexpr std::size_t kStepsUntilAllEnded = 3;
// Rounds whose examples a rank keeps: the examples of round m overwrite those of the last round that no rank looks at.
inline constexpr std::size_t kRoundsKept = kLastUseOfExample + kStepsUntilAllEnded;
// Steps after which every round is closed that this rank read before it received a change of the tree.
inline constexpr std::size_t kStepsUntilForgotten = kPipelineDepth;

}  // namespace cpt
