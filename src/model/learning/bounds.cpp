// How the bounds on trees follow. Count nodes rather than leaves: m = n - 1 nodes stand over n leaves.
//
// Balance. A leaf joins the right side only while R < kappa N, so afterwards R - 1 < kappa (N - 1); likewise on the
// left, with <= for a tie. Nothing but such a leaf changes a side, so a node over m nodes, itself included, has at most
// kappa m of them on either side.
//
// Total depth. It is the sum of n = m + 1 over all nodes. The sum S(m) of m over all nodes is at most m log m / H + 1
// (logarithms to base 2, H = H(kappa) <= 1), by induction over the sides a >= b, a + b = m - 1:
//   m = 1            S = 1.
//   b = 0, m > 1     m log m - a log a = m H(a / m) >= m H, for 1/2 <= a / m <= kappa. This pays for S(m) = m + S(a).
//   b > 0, 2 a >= m  m log m - a log a - b log b = m H(a / m) + (b + 1) H(1 / (b + 1)) >= m H + 2. This pays for
//                    S(m) = m + S(a) + S(b) and the second 1 of the sides' bounds.
//   b > 0, 2 a < m   a = b, and the same is m - 1 + m log m - 2 a log 2 a >= m + 1.
//
// Disagreements. A label passes d nodes when it splits a leaf of depth d, and adds d + 2 to the total depth: all labels
// together pass total depth - 2 (n - 1) nodes. For alpha < 1 a disagreement needs a balance that outweighs a
// preference, so the label goes to the side with strictly fewer leaves, and the smaller side, which begins with one
// leaf, grows by one. So a node sees at most min(L, R) - 1 of them; and min(L, R) <= n / 2 H(L / n), which adds up to
// n / 2 log n over all nodes.
#include "model/learning/bounds.h"

#include <cmath>

namespace cpt {

namespace {

// 1 / kappa - 1: kappa itself is 1 to the last bit for small alpha.
double excess(double alpha) { return std::exp2(1 - 1 / alpha); }

double entropy_of_kappa(double alpha) {
  const double e = excess(alpha);
  return std::log1p(e) / std::log(2) + e / (1 + e) * (1 / alpha - 1);
}

double square(double x) { return x * x; }

}  // namespace

double kappa(double alpha) { return 1 / (1 + excess(alpha)); }

double depth_bound(std::uint64_t labels, double alpha) {
  if (labels <= 1) return 2;
  return std::log(static_cast<double>(labels)) / std::log1p(excess(alpha)) + 2;
}

double total_depth_bound(std::uint64_t labels, double alpha) {
  if (labels <= 1) return 0;
  if (labels == 2) return 2;
  const auto nodes = static_cast<double>(labels - 1);
  return nodes * std::log2(nodes) / entropy_of_kappa(alpha) + nodes + 1;
}

double disagreement_bound(std::uint64_t labels, double alpha) {
  if (labels <= 1) return 0;
  const auto n = static_cast<double>(labels);
  if (alpha >= 1) return total_depth_bound(labels, alpha) - 2 * (n - 1);
  return n / 2 * std::log2(n) - (n - 1);
}

double squared_error_bound(double depth, double mean_square) { return square(depth) * mean_square; }

double pecoc_bound(double labels, double mean_square) { return 4 * square((labels - 1) / labels) * mean_square; }

double normalized_pecoc_bound(double labels, double mean_square) { return (labels - 1) * mean_square; }

double k_way_bound(double k, double depth, double mean_square) {
  return squared_error_bound(depth, pecoc_bound(k, mean_square));
}

}  // namespace cpt
