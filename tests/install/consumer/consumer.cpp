// A user's program, which has only the installed headers and libraries.
#include <cpt/hashing.h>
#include <cpt/model.h>
#include <cpt/version.h>

#include <iostream>
#include <string>

static_assert(CPT_VERSION_MAJOR >= 0 && CPT_VERSION_MINOR >= 0 && CPT_VERSION_PATCH >= 0);

int main() {
  if (std::string(cpt::version()) != CPT_VERSION) return 1;
  cpt::ModelOptions options;
  options.bits = 12;
  cpt::Model model(options);
  const cpt::FeatureHasher hasher(options.seed);
  cpt::Batch batch;
  for (int i = 0; i < 300; ++i) {
    const std::string word = std::to_string(i % 3);
    batch.add_feature(hasher.feature(hasher.name_space(""), word), 1);
    batch.finish_example("label" + word, 1, {});
    model.learn(batch[batch.size() - 1]);
  }
  const cpt::Prediction best = model.top_k(batch[0], 1).at(0);
  std::cout << model.labels() << ' ' << best.label << ' ' << (best.probability > 0.9) << '\n';
}
