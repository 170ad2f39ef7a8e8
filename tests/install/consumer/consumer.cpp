// A program of somebody else: it has only what was installed.
#include <cpt/error.h>
#include <cpt/example.h>
#include <cpt/hashing.h>

#include <iostream>

int main() {
  cpt::Batch batch;
  batch.add_feature(7, 2.0F);
  batch.add_feature(7, 1.0F);
  batch.finish_example("label", 1, {});
  const cpt::ExampleView example = batch[0];
  std::cout << example.label << ' ' << example.squared_length() << '\n';  // the constant, and 2 + 1 squared
}
