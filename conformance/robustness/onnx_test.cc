// ONNX files that are cut or damaged, through IParser; src/onnx has the tests of each rule.
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "program.h"

namespace robustness {
namespace {

std::vector<char> digits() {
  std::ifstream file(KILN_DIGITS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Parses the bytes into a network of its own, and builds what was accepted. False without a word is a failure.
bool parse(const std::vector<char>& bytes, Program& p) {
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p.network, p.logger));
  const bool parsed = parser->parse(bytes.data(), bytes.size(), nullptr);
  EXPECT_EQ(parsed, parser->getNbErrors() == 0);
  for (int i = 0; i < parser->getNbErrors(); ++i) EXPECT_STRNE(parser->getError(i)->desc(), "");
  return parsed;
}

TEST(OnnxFiles, CutAnywhere) {
  const std::vector<char> whole = digits();
  ASSERT_GT(whole.size(), 1000U);
  Program sound;
  EXPECT_TRUE(parse(whole, sound)) << sound.logger.take_errors();
  for (size_t length = 0; length < whole.size(); length += length < 300 ? 1 : 97) {
    Program p;
    EXPECT_FALSE(parse({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}, p)) << length;
    EXPECT_NE(p.logger.take_errors(), "") << length;
  }
  EXPECT_TRUE(process_is_fine());
}

TEST(OnnxFiles, FlippedBits) {
  const std::vector<char> whole = digits();
  for (size_t i = 0; i < whole.size(); i += i < 2000 ? 7 : 997) {
    std::vector<char> damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    Program p;
    if (!parse(damaged, p)) {
      EXPECT_NE(p.logger.take_errors(), "") << i;
      continue;
    }
    if (i % 5 != 0 || p->getNbInputs() != 1) continue;  // a build takes its time
    const nv::Dims shape = p->getInput(0)->getDimensions();
    nv::Dims one = shape;
    for (int axis = 0; axis < one.nbDims; ++axis)
      if (one.d[axis] < 0) one.d[axis] = 1;
    nv::IOptimizationProfile& profile = *p.builder->createOptimizationProfile();
    for (const auto select : {nv::OptProfileSelector::kMIN, nv::OptProfileSelector::kOPT, nv::OptProfileSelector::kMAX})
      profile.setDimensions(p->getInput(0)->getName(), select, one);
    p.config->addOptimizationProfile(&profile);
    EXPECT_EQ(p.build() == nullptr, p.logger.take_errors() != "") << i;
  }
  EXPECT_TRUE(process_is_fine());
}

TEST(OnnxFiles, AParserOfABrokenModelCanGoOn) {
  Program p;
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p.network, p.logger));
  std::vector<char> bytes = digits();
  EXPECT_FALSE(parser->parse(bytes.data(), bytes.size() / 2, nullptr));
  EXPECT_EQ(p->getNbInputs(), 0) << "nothing of a damaged file is in the network";
  parser->clearErrors();
  EXPECT_TRUE(parser->parse(bytes.data(), bytes.size(), nullptr));
  EXPECT_EQ(p->getNbOutputs(), 1);
}

}  // namespace
}  // namespace robustness
