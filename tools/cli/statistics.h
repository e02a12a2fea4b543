/// Times of queries and what a report says about many of them.
#pragma once

#include <span>
#include <vector>

namespace kiln::cli {

/// The times of a query, in milliseconds since the run began.
struct Trace {
  double enqueue_start = 0, enqueue_end = 0;  ///< on the host
  double h2d_start = 0, h2d_end = 0;          ///< copying inputs in
  double compute_start = 0, compute_end = 0;
  double d2h_start = 0, d2h_end = 0;  ///< copying outputs out
  double enqueue() const { return enqueue_end - enqueue_start; }
  double h2d() const { return h2d_end - h2d_start; }
  double compute() const { return compute_end - compute_start; }
  double d2h() const { return d2h_end - d2h_start; }
  double latency() const { return h2d() + compute() + d2h(); }
};

/// The summary of one figure over all queries; infinite where there are none.
struct Summary {
  double min, max, mean, median;
  std::vector<double> percentiles;  ///< in the order asked for
  double variation;                 ///< standard deviation by mean, percent
};
Summary summarize(std::vector<double> figures, std::span<const double> percentiles);

double mean(std::span<const double> figures);
double median(std::vector<double> figures);  ///< the mean of the middle two of an even number; 0 of none

/// The percentile of ascending figures: the largest one after leaving out the top (100 - percentile) %, as TensorRT
/// counts it.
double percentile_of(std::span<const double> ascending, double percentile);

}  // namespace kiln::cli
