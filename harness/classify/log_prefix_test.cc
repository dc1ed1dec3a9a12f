#include "harness/classify/log_prefix.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

struct Row {
  const char *line, *stream, *text;
};

TEST(LogPrefixTest, LaunchersAndLoggersAreTakenOff) {
  const Row rows[] = {
      {"Traceback (most recent call last):", "", "Traceback (most recent call last):"},
      {"[rank0]: Traceback (most recent call last):", "rank 0", "Traceback (most recent call last):"},
      {"[rank12]:   File \"x.py\", line 1, in f", "rank 12", "  File \"x.py\", line 1, in f"},
      {"[default3]:    code", "rank 3", "   code"},
      {"[0]: text", "rank 0", "text"},
      {"7: text", "rank 7", "text"},
      {"Rank 3: text", "rank 3", "text"},
      {"(RayTrainWorker pid=123, ip=10.0.0.1) text", "RayTrainWorker pid=123, ip=10.0.0.1", "text"},
      {"trainer-1  |   text", "trainer-1", "  text"},
      {"2026-09-10 12:00:00,123 ERROR: text", "", "text"},
      {"2026-09-10T12:00:00.123456Z stdout F   text", "", "  text"},
      {"[2026-09-10 12:00:00] [rank1]: text", "rank 1", "text"},
      {"[rank1]: 2026-09-10 12:00:00 - ERROR - text", "rank 1", "text"},
      {"12:00:00 text", "", "text"},
      {"Sep 10 12:00:00 host train[12]: text", "", "text"},
      {"[rank0]:W0910 12:34:56.789000 1234 torch/_dynamo/convert_frame.py:1233] [0/0]   text", "rank 0", "  text"},
      {"V0910 12:34:56.789000 torch/_dynamo/x.py:1] [0/0_1] [__graph_code] text", "", "text"},
      {"ERROR:root:text", "", "text"},
      {"train - INFO - text", "", "text"},
      {"> text", "", "text"},
      {"RuntimeError: text", "", "RuntimeError: text"},
      {"  File \"/x.py\", line 1", "", "  File \"/x.py\", line 1"},
      {"torch._dynamo.exc.Unsupported: text", "", "torch._dynamo.exc.Unsupported: text"},
      {"", "", ""},
      {"[", "", "["},
      {"E", "", ""},
  };
  for (const Row& row : rows) {
    const LogLine line = StripLogPrefix(row.line);
    EXPECT_EQ(line.text, row.text) << row.line;
    EXPECT_EQ(line.stream, row.stream) << row.line;
  }
}

TEST(LogPrefixTest, PytestLinesAreMarked) {
  EXPECT_TRUE(StripLogPrefix("E       RuntimeError: x").pytest);
  EXPECT_EQ(StripLogPrefix("E       RuntimeError: x").text, "    RuntimeError: x");
  EXPECT_FALSE(StripLogPrefix("Epoch 3").pytest);
}

TEST(LogPrefixTest, PrefixesAreOfAKind) {
  EXPECT_EQ(StripLogPrefix("[rank0]: x").prefixes, kStreamPrefix);
  EXPECT_EQ(StripLogPrefix("2026-09-10 12:00:00 INFO: x").prefixes, kTimePrefix | kLevelPrefix);
  EXPECT_EQ(StripLogPrefix("x").prefixes, 0u);
}

}  // namespace
}  // namespace flce
