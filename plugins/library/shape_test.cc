#include "library/shape.h"

#include <gtest/gtest.h>

namespace kiln::plugins {
namespace {

using Operation = nv::DimensionOperation;

struct Row {
  Operation operation;
  int64_t a, b, result;
};

TEST(Dims, OfNumbersAreCalculated) {
  constexpr Row kRows[] = {
      {Operation::kSUM, 5, 3, 8},
      {Operation::kSUB, 5, 3, 2},
      {Operation::kPROD, 5, 3, 15},
      {Operation::kMAX, 5, 3, 5},
      {Operation::kMIN, 5, 3, 3},
      {Operation::kEQUAL, 5, 3, 0},
      {Operation::kEQUAL, 3, 3, 1},
      {Operation::kLESS, 5, 3, 0},
      {Operation::kLESS, 3, 5, 1},
      {Operation::kFLOOR_DIV, 7, 2, 3},
      {Operation::kFLOOR_DIV, -7, 2, -4},
      {Operation::kCEIL_DIV, 7, 2, 4},
      {Operation::kCEIL_DIV, -7, 2, -3},
      {Operation::kCEIL_DIV, 8, 2, 4},
      {Operation::kFLOOR_DIV, 7, 0, 0},
      {Operation::kCEIL_DIV, 7, 0, 0},
      {Operation::kSUM, INT64_MAX, 1, INT64_MAX},
      {Operation::kFLOOR_DIV, INT64_MIN, -1, INT64_MAX},
      {Operation::kCEIL_DIV, INT64_MIN, -1, INT64_MAX},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(Dim::operation(row.operation, row.a, row.b).number(), row.result)
        << static_cast<int>(row.operation) << ": " << row.a << ", " << row.b;
}

}  // namespace
}  // namespace kiln::plugins
