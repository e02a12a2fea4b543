/// The mean and the root mean square of a tensor's numbers, and what functions make of them.
#pragma once

namespace kiln::passes {

/// Numbers of which many are positive add up faster than those of both signs, so the size alone does not tell what a
/// sum of them reaches.
struct Moments {
  double rms = 1;   ///< root mean square, finite
  double mean = 0;  ///< of a magnitude up to `rms`

  /// How far numbers lie from their mean: the standard deviation.
  double spread() const;
};

/// The moments, brought within what they may be: `rms` to at most 1e30, and `mean` to at most `rms`.
Moments bounded(double rms, double mean);

// What sums and products of operands have that are independent of each other.
Moments sum_of(const Moments& a, const Moments& b);
Moments product_of(const Moments& a, const Moments& b);
/// The sum of `count` independent terms.
Moments sum_of_terms(double count, const Moments& term);
/// The larger of two numbers. The mean is that of normal distributions; the size is that of the larger operand, which
/// may be too much.
Moments larger_of(const Moments& a, const Moments& b);

Moments negative_of(const Moments& x);
Moments square_of(const Moments& x);
Moments magnitude_of(const Moments& x);
/// e^x. Numbers farther than three times their spread from the mean are left out: they are rare, and their exponentials
/// are all that would count.
Moments exponential_of(const Moments& x);
/// x^exponent; that of negative x has some sign.
Moments power_of(const Moments& x, double exponent);

}  // namespace kiln::passes
