// Labels and structure changes as bytes and back.
#include "train/messages/tree_change_messages.h"

#include <gtest/gtest.h>

#include "cpt/error.h"
#include "cpt/hashing.h"

namespace cpt {
namespace {

using ByteVector = std::vector<std::byte>;

// Odd ones too: empty, with zero bytes, UTF-8.
const std::vector<std::string> kLabels = {"label", "", std::string("nul\0nul", 7), "\xC3\xA9t\xC3\xA9",
                                          std::string(1000, 'x')};

std::vector<Proposal> proposals() {
  std::vector<Proposal> proposals;
  for (const std::string& label : kLabels) {
    Proposal& proposal = proposals.emplace_back();
    proposal.label = label;
    for (std::size_t f = 0; f < 7 * (proposals.size() - 1); ++f) {
      proposal.features.push_back(~FeatureHash{0} - f);
      proposal.values.push_back(0.1F * static_cast<float>(f));
    }
  }
  return proposals;
}

std::vector<TreeChange> changes() {
  std::vector<TreeChange> changes;
  for (const std::string& label : kLabels) {
    const auto number = static_cast<LabelId>(changes.size());
    changes.push_back({label, {number == 0 ? kNoLabel : number - 1, number / 2}, number * 100});
  }
  return changes;
}

TEST(Messages, ProposalsComeBackAsTheyWere) {
  const std::vector<Proposal> sent = proposals();
  const std::vector<Proposal> received = unpack_proposals(pack(sent));
  ASSERT_EQ(received.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(received[i].label, sent[i].label);
    EXPECT_EQ(received[i].features, sent[i].features);
    EXPECT_EQ(received[i].values, sent[i].values);
  }
}

TEST(Messages, ChangesComeBackAsTheyWere) {
  const std::vector<TreeChange> sent = changes();
  const std::vector<TreeChange> received = unpack_changes(pack(sent));
  ASSERT_EQ(received.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(received[i].label, sent[i].label);
    EXPECT_EQ(received[i].splits, sent[i].splits);
    EXPECT_EQ(received[i].disagreements, sent[i].disagreements);
  }
}

TEST(Messages, NoneIsAMessageToo) {
  EXPECT_TRUE(unpack_proposals(pack(std::vector<Proposal>{})).empty());
  EXPECT_TRUE(unpack_changes(pack(std::vector<TreeChange>{})).empty());
}

template <class Unpack>
void expect_refused(const ByteVector& bytes, Unpack unpack) {
  try {
    unpack(bytes);
    ADD_FAILURE() << bytes.size() << " bytes were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kFailed);
    EXPECT_STREQ(error.what(), "a message of another rank cannot be decoded");
  }
}

TEST(Messages, CutAnywhereAreRefused) {
  const ByteVector of_proposals = pack(proposals());
  for (std::size_t length = 0; length < of_proposals.size(); length += length < 400 ? 1 : 37) {
    expect_refused({of_proposals.begin(), of_proposals.begin() + static_cast<std::ptrdiff_t>(length)},
                   unpack_proposals);
  }
  const ByteVector of_changes = pack(changes());
  for (std::size_t length = 0; length < of_changes.size(); ++length) {
    expect_refused({of_changes.begin(), of_changes.begin() + static_cast<std::ptrdiff_t>(length)}, unpack_changes);
  }
}

TEST(Messages, OfAbsurdLengthsAreRefused) {
  expect_refused(ByteVector(200, std::byte{0xff}), unpack_proposals);
  expect_refused(ByteVector(200, std::byte{0xff}), unpack_changes);
}

TEST(Proposal, KeepsAnExampleAfterItsBatchIsGone) {
  std::optional<Proposal> proposal;
  {
    Batch batch;
    batch.add_feature(17, 2.5F);
    batch.finish_example("label", 0.5F, {});
    proposal = Proposal::of(batch[0]);
  }
  const ExampleView x = proposal->view();
  EXPECT_EQ(x.label, "label");
  EXPECT_EQ(x.label_hash, hash_label("label"));
  ASSERT_EQ(x.features.size(), 2U);
  EXPECT_EQ(x.features[0], kConstantFeature);
  EXPECT_EQ(x.features[1], 17U);
  EXPECT_EQ(x.values[1], 2.5F);
}

}  // namespace
}  // namespace cpt
