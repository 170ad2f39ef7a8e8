#include "data/text/line_parser.h"

#include "cpt/error.h"
#include "data/text/fasttext_parser.h"
#include "data/text/libsvm_parser.h"
#include "data/text/vw_parser.h"

namespace cpt {

std::unique_ptr<LineParser> make_line_parser(Format format, const ReadOptions& options) {
  if (format == Format::kVw) return std::make_unique<VwParser>(options);
  if (!options.interactions.empty()) {
    throw Error(Fault::kUsage, "--interactions needs namespaces, which only the vw format has");
  }
  if (format == Format::kLibsvm) return std::make_unique<LibsvmParser>(options);
  if (format == Format::kFasttext) return std::make_unique<FasttextParser>(options);
  throw Error(Fault::kFailed, "a parser needs a format");
}

}  // namespace cpt
