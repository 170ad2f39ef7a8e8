/* Learns, predicts, saves and loads through the C interface: c_program FOLDER. Exit status 1, and the line, if it fails. */
#include <cpt/cpt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      printf("%s:%d: %s failed; the last error: %s\n", __FILE__, __LINE__, #condition, cpt_error()); \
      return 1;                                                                                \
    }                                                                                          \
  } while (0)

static int learns_and_predicts(cpt_model* model, cpt_example* x) {
  const cpt_feature red[] = {{NULL, "color=red", 1}, {"shop", "price", 0.5}};
  const cpt_feature blue[] = {{"", "color=blue", 1}};
  uint64_t labels[3];
  double p[3], before = -1, after = -1;
  size_t found = 0, length = 0;
  char name[4];
  int i;
  for (i = 0; i < 10; ++i) {
    CHECK(cpt_example_set_features(x, red, 2) == 0);
    CHECK(cpt_learn(model, x, "apple", 1, &before) == 0);
    CHECK(cpt_example_set_features(x, blue, 1) == 0);
    CHECK(cpt_learn(model, x, "sky", 1, NULL) == 0);
  }
  CHECK(before > 0.5 && before < 1);
  CHECK(cpt_labels(model) == 2);
  CHECK(cpt_probability(model, x, "sky", &after) == 0 && after > 0.5);
  CHECK(cpt_top_k(model, x, 3, 0, labels, p, &found) == 0);
  CHECK(found == 2 && labels[0] == 1 && fabs(p[0] - after) < 1e-12 && fabs(p[0] + p[1] - 1) < 1e-9);
  CHECK(cpt_top_k(model, x, 3, 0.5, labels, p, &found) == 0 && found == 1);
  CHECK(cpt_label(model, 0, name, sizeof name, &length) == 0 && strcmp(name, "app") == 0 && length == 5);
  CHECK(cpt_example_set_line(x, "sky | color=blue") == 0);
  CHECK(cpt_probability(model, x, "sky", &before) == 0 && before == after);
  CHECK(cpt_probability(model, x, NULL, &before) == 0 && before == after);
  CHECK(cpt_learn(model, x, NULL, 1, &before) == 0 && before == after);
  CHECK(cpt_find_label(model, "sky", labels) == 0 && labels[0] == 1);
  for (i = 0; i < 100; ++i) CHECK(cpt_learn(model, x, "sky", 1, NULL) == 0);
  CHECK(cpt_known_part(model, x, &before) == 0 && before == 1);
  CHECK(cpt_find_label(model, "sea", labels) == 0 && labels[0] == UINT64_MAX);
  return 0;
}

static int knows_what_a_line_says(cpt_example* x) {
  const cpt_feature red[] = {{NULL, "color=red", 1}};
  CHECK(cpt_example_set_line(x, "sky 2.5 | color=blue") == 0);
  CHECK(strcmp(cpt_example_label(x), "sky") == 0 && cpt_example_importance(x) == 2.5);
  CHECK(cpt_example_set_line(x, "| color=blue") == 0);
  CHECK(cpt_example_label(x) == NULL && cpt_example_importance(x) == 1);
  CHECK(cpt_example_set_features(x, red, 1) == 0);
  CHECK(cpt_example_label(x) == NULL && cpt_example_importance(x) == 0);
  CHECK(cpt_example_set_line(x, "sky 1:2 | x") == 65);
  CHECK(cpt_example_label(x) == NULL && cpt_example_importance(x) == 0);
  CHECK(cpt_example_label(NULL) == NULL && cpt_example_importance(NULL) == 0);
  return 0;
}

/* A format, once it is said, holds for lines of any look. */
static int reads_the_format_it_is_told(cpt_model* model) {
  cpt_example* x = cpt_example_create(model);
  CHECK(x != NULL);
  CHECK(cpt_example_set_line(x, "bread milk") == 65);
  CHECK(cpt_example_set_format(x, "fasttext") == 0);
  CHECK(cpt_example_set_line(x, "bread milk") == 0 && cpt_example_label(x) == NULL);
  CHECK(cpt_example_set_line(x, "soup | bread milk") == 0 && cpt_example_label(x) == NULL);
  CHECK(cpt_example_set_format(x, "vw") == 0);
  CHECK(cpt_example_set_line(x, "soup | bread milk") == 0 && strcmp(cpt_example_label(x), "soup") == 0);
  CHECK(cpt_example_set_format(x, "csv") == 2 && strstr(cpt_error(), "expected the format vw, libsvm") != NULL);
  CHECK(cpt_example_set_format(x, NULL) == 2 && cpt_example_set_format(NULL, "vw") == 2);
  cpt_example_free(x);
  return 0;
}

static int refuses(cpt_model* model, cpt_example* x) {
  const cpt_feature huge[] = {{NULL, "a", 1e40}};
  const char* const wrong[] = {"alpha=3", "bitz=4", "alpha"};
  uint64_t labels[1];
  double p = -1;
  size_t i, found;
  for (i = 0; i < 3; ++i) {
    CHECK(cpt_create(wrong + i, 1) == NULL);
    CHECK(strstr(cpt_error(), i == 1 ? "bitz" : "alpha") != NULL);
  }
  CHECK(cpt_load("/no/such/model") == NULL && strstr(cpt_error(), "/no/such/model") != NULL);
  CHECK(cpt_save(model, "/dev/null/model") == 73);
  CHECK(cpt_example_set_line(x, "l | a:x") == 65 && strstr(cpt_error(), "expected") != NULL);
  CHECK(cpt_example_set_line(x, " ") == 65);
  CHECK(cpt_example_set_features(x, huge, 1) == 65);
  CHECK(cpt_probability(model, x, NULL, &p) == 2 && p == -1);
  CHECK(cpt_top_k(model, x, 1, nan(""), labels, &p, &found) == 2 && strstr(cpt_error(), "threshold") != NULL);
  CHECK(cpt_learn(model, x, "a", 1e-50, NULL) == 2 && strstr(cpt_error(), "1e-50") != NULL);
  CHECK(cpt_find_label(model, NULL, labels) == 2 && cpt_find_label(model, "a", NULL) == 2);
  CHECK(cpt_probability(NULL, x, "a", &p) == 2 && cpt_probability(model, NULL, "a", &p) == 2);
  CHECK(cpt_learn(model, x, "a", -1, NULL) == 2 && cpt_learn(model, x, NULL, 1, NULL) == 2);
  CHECK(cpt_label(model, 99, NULL, 0, NULL) == 2);
  CHECK(cpt_labels(model) == 2);
  return 0;
}

int main(int count, char** words) {
  const char* const options[] = {"bits=12", "interactions=ab", "interactions=cd"};
  uint64_t tree[2], weights[2];
  cpt_model *model, *copy;
  cpt_example* x;
  CHECK(count == 2);
  CHECK(strlen(cpt_version()) > 0 && strcmp(cpt_error(), "") == 0);
  model = cpt_create(options, 1);
  CHECK(model != NULL);
  x = cpt_example_create(model);
  CHECK(x != NULL);
  if (learns_and_predicts(model, x) != 0 || knows_what_a_line_says(x) != 0) return 1;
  if (reads_the_format_it_is_told(model) != 0 || refuses(model, x) != 0) return 1;
  CHECK(cpt_save(model, words[1]) == 0);
  copy = cpt_load(words[1]);
  CHECK(copy != NULL);
  CHECK(cpt_digests(model, &tree[0], &weights[0]) == 0 && cpt_digests(copy, &tree[1], &weights[1]) == 0);
  CHECK(tree[0] == tree[1] && weights[0] == weights[1]);
  cpt_free(copy);
  cpt_free(model);
  cpt_example_free(x);
  cpt_free(NULL);
  cpt_example_free(NULL);
  model = cpt_create(options, 3);
  CHECK(model != NULL);
  cpt_free(model);
  return 0;
}
