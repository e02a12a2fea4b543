// Scan of opset 8 with the length of its sequence: iterations end there, and stacked outputs are zeros behind them.
#include <gtest/gtest.h>

#include "api/onnx/bodies_program.h"

namespace kiln::api {
namespace {

using namespace bodies;

/// s = start + each of x's slices, all are the sums so far. The sequence has 4 slices of 2.
Proto running_sums(int64_t direction, const std::vector<Proto>& inputs, const std::vector<Proto>& initializers) {
  const GraphParts body{{node("Add", {"s", "e"}, {"t"}), node("Identity", {"t"}, {"o"})},
                        {value("s", kFloat, {2}), value("e", kFloat, {2})},
                        {value("t", kFloat, {2}), value("o", kFloat, {2})},
                        {}};
  return model(graph({{node("Scan", {"l", "start", "x"}, {"y", "all"}, "scan",
                            {graph_attribute("body", graph(body, "body")), int_attribute("num_scan_inputs", 1),
                             ints_attribute("directions", {direction})})},
                      inputs,
                      {value("y", kFloat, {1, 2}), value("all", kFloat, {1, 4, 2})},
                      initializers}),
               {}, 8);
}
const std::vector<Proto> kSequence{value("start", kFloat, {1, 2}), value("x", kFloat, {1, 4, 2})};

TEST(ScanLengths, OfTheRun) {
  std::vector<Proto> inputs = kSequence;
  inputs.push_back(value("l", kInt64, {1}));
  for (const int64_t direction : {0, 1}) {
    Program p(running_sums(direction, inputs, {}), {{"l", {0}, {9}}});
    p.feed("start", {1, 2}, Floats{100, 200}).feed("x", {1, 4, 2}, Floats{1, 2, 3, 4, 5, 6, 7, 8});
    for (const int64_t length : {4, 2, 0, 3}) {
      EXPECT_EQ(p.feed("l", {1}, Numbers{length}).run(), "");
      Floats sums{100, 200}, all;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t slice = direction == 1 ? length - 1 - i : i;
        sums[0] += static_cast<float>(2 * slice + 1), sums[1] += static_cast<float>(2 * slice + 2);
        all.insert(all.end(), sums.begin(), sums.end());
      }
      all.resize(8, 0);
      EXPECT_EQ(p.of<float>("y"), sums) << length;
      EXPECT_EQ(p.of<float>("all"), all) << length;
    }
    const std::string error = p.feed("l", {1}, Numbers{5}).run();
    EXPECT_NE(error.find("scan"), std::string::npos) << error;
    EXPECT_NE(error.find("sequence_lens"), std::string::npos) << error;
  }
}

TEST(ScanLengths, OfTheModel) {
  Program p(running_sums(0, kSequence, {i64s("l", {3})}));
  p.feed("start", {1, 2}, Floats{0, 0}).feed("x", {1, 4, 2}, Floats{1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{9, 12}));
  EXPECT_EQ(p.of<float>("all"), (Floats{1, 2, 4, 6, 9, 12, 0, 0}));
}

TEST(ScanLengths, OfSequencesOfOneLength) {  // which only the run knows
  const GraphParts body{{node("Add", {"d", "e"}, {"o"})},
                        {value("d", kFloat, {2}), value("e", kFloat, {2})},
                        {value("o", kFloat, {2})},
                        {}};
  for (const int64_t batch : {1, 2}) {
    std::vector<Range> ranges{{"x", {batch, 0, 2}, {batch, 9, 2}}, {"z", {batch, 0, 2}, {batch, 9, 2}}};
    if (batch == 1) ranges.push_back({"l", {0}, {9}});  // one length decides shapes, several are data
    Program p(model(graph({{node("Scan", {"l", "x", "z"}, {"all"}, "scan",
                                 {graph_attribute("body", graph(body, "body")), int_attribute("num_scan_inputs", 2)})},
                           {value("l", kInt64, {batch}), value("x", kFloat, {batch, -1, 2}),
                            value("z", kFloat, {batch, -1, 2})},
                           {value("all", kFloat, {batch, -1, 2})},
                           {}}),
                    {}, 8),
              ranges);
    const auto feed = [&](const char* name, int64_t slices) {
      p.feed(name, {batch, slices, 2}, Floats(static_cast<size_t>(batch * slices * 2), 1));
    };
    p.feed("l", {batch}, Numbers(static_cast<size_t>(batch), 2));
    feed("x", 3), feed("z", 3);
    EXPECT_EQ(p.run(), "");
    Floats row{2, 2, 2, 2, 0, 0}, all;
    for (int64_t i = 0; i < batch; ++i) all.insert(all.end(), row.begin(), row.end());
    EXPECT_EQ(p.of<float>("all"), all);
    feed("z", 4);
    const std::string error = p.run();
    EXPECT_NE(error.find("the slices of inputs 1 and 2 of node 'scan' (Scan) are equal"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace kiln::api
