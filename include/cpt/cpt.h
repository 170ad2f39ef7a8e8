/* The library for C, and for any language that can call C: libcpt.so.
 *
 * Functions that can fail return a status: 0, or the exit code that cpt and cpt_dist would end with (2: an argument is
 * wrong; 65: bad data or a damaged model; 66: nothing to read; 73: cannot write; 1: all else). Functions that make a
 * handle return NULL if they fail. cpt_error() then says why. No C++ exception leaves a function.
 *
 * Threads: any number may call functions that take a const model at a time. cpt_learn() and cpt_free() need the model
 * for themselves. An example is for one thread at a time.
 *
 * Texts are bytes that end with 0; no encoding is assumed. Pointers may be NULL only where that is said. */
#pragma once

/* NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using): this is C. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cpt_model cpt_model;
typedef struct cpt_example cpt_example;

/* A feature by its name. */
typedef struct {
  const char* name_space; /* NULL or empty: the namespace of libsvm and fasttext lines, which has no name */
  const char* name;
  double value; /* at most 1e30 in size */
} cpt_feature;
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */

/* The version of the library, such as "0.1.0". */
const char* cpt_version(void);
/* The reason of the last failure on this thread, in one line; "" if nothing failed. Valid until the next failure. */
const char* cpt_error(void);

/* A model without labels. Options are those of cpt_dist that belong to a model, as "NAME=VALUE": "bits=18". An option
 * may be repeated where the command line allows it. To be freed with cpt_free(). */
cpt_model* cpt_create(const char* const* options, size_t count);
/* Reads a model that cpt_save() or cpt_dist wrote. To be freed with cpt_free(). */
cpt_model* cpt_load(const char* directory);
/* Writes the model, completely or not at all, and replaces a model that is there; creates the missing directories above
 * it. A process that is killed leaves the old model or the new one; only where the file system cannot exchange two
 * names (NFS, for one) can the old model be left as "DIRECTORY.old.tmp-NUMBER" alone. One writer per directory at a
 * time: removes what killed writers left beside it, "DIRECTORY.tmp-NUMBER" and "DIRECTORY.old.tmp-NUMBER". */
int cpt_save(const cpt_model* model, const char* directory);
/* NULL is allowed. */
void cpt_free(cpt_model* model);

/* The number of labels, which are numbered from 0 in the order in which they joined. */
uint64_t cpt_labels(const cpt_model* model);
/* Copies the name of a label to `name`, which has room for `size` bytes, cut to fit, with a 0 after it. `length`,
 * unless NULL, becomes the number of bytes of the whole name. `name` may be NULL if `size` is 0. */
int cpt_label(const cpt_model* model, uint64_t number, char* name, size_t size, size_t* length);
/* The number of a label; UINT64_MAX if the model does not know it. */
int cpt_find_label(const cpt_model* model, const char* label, uint64_t* number);
/* Digests of all that was learned: those of `tree` and `weights` in summary.json. */
int cpt_digests(const cpt_model* model, uint64_t* tree, uint64_t* weights);

/* An example for models with the options of this one; it may outlive the model. It may be set again and again; at first
 * it has no features. To be freed with cpt_example_free(). */
cpt_example* cpt_example_create(const cpt_model* model);
/* NULL is allowed. */
void cpt_example_free(cpt_example* example);
/* The format of the lines that follow: "vw", "libsvm", "fasttext" or "json". Without this call, the first line that can
 * be read decides. If that is in no format that is recognised, such as the words of a text without a label, it is taken
 * for one in the format that the model was trained on by cpt_dist, if the model knows it. */
int cpt_example_set_format(cpt_example* example, const char* format);
/* Sets the example to that of a line of text, with or without its end. All lines of an example have one format; of
 * several labels it takes the first. On failure, also for a blank line, the example has no features. */
int cpt_example_set_line(cpt_example* example, const char* line);
/* Sets the example to these features, the n-grams of their words and the crosses of their namespaces, as the line does
 * that has them in this order, without a label. Repeated features add up. All text, for n-grams, is that of the keys of
 * the model that hold text; without such keys, that of the namespace without a name. On failure the example has no
 * features. `features` may be NULL if there are none. */
int cpt_example_set_features(cpt_example* example, const cpt_feature* features, size_t count);
/* The label of the line, and its importance, which is 1 where the line has none. NULL and 0 if there is no label, or no
 * line. The label is valid until the example is set again or freed. */
const char* cpt_example_label(const cpt_example* example);
double cpt_example_importance(const cpt_example* example);

/* P(label | x), in [0, 1]; 0 if the model does not know the label. NULL: the label of the line. */
int cpt_probability(const cpt_model* model, const cpt_example* example, const char* label, double* probability);
/* The part of the features of the example, in [0, 1], that the model has met, so far as it counts features; NaN if it
 * has counted none yet (the first 100 examples are taken over together), or if the example has no feature. */
int cpt_known_part(const cpt_model* model, const cpt_example* example, double* part);
/* The k most probable labels of at least `threshold`, most probable first: their numbers, and probabilities; a
 * threshold that is NaN is an error. Both arrays have room for k; `found` says how many there are. */
int cpt_top_k(const cpt_model* model, const cpt_example* example, size_t k, double threshold, uint64_t* labels,
              double* probabilities, size_t* found);
/* Learns the example with this label (NULL: that of the line) and this importance, above 0 and at most 1e12; 1 is that
 * of an ordinary example, and that of the line is ignored. A new label joins. `before`, unless NULL, becomes
 * P(label | x) before learning, 0 if the label is new. */
int cpt_learn(cpt_model* model, const cpt_example* example, const char* label, double importance, double* before);

#ifdef __cplusplus
}
#endif
