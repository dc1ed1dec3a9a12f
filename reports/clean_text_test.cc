#include "reports/clean_text.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

TEST(CleanTextTest, MakesVisibleWhatWouldAct) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"plain\ttext\n", "plain\ttext\n"},
      {"\x1b[31mred\x1b[0m", "red"},
      {"a\rb\r\nc", "a\nb\nc"},
      {std::string_view("a\0b\x07", 4), "a<U+0000>b<U+0007>"},
      {"\xe2\x80\xae" "exe.\xe2\x81\xa9", "<U+202E>exe.<U+2069>"},
      {"\xff\xc2", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xef\xbf\xbe", "<U+FFFE>"},
      {"日本 é 😀", "日本 é 😀"},
      {"\x1b日", "\xef\xbf\xbd\xef\xbf\xbd"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(Readable(text), expected);
  EXPECT_EQ(ReadableLine("a\n\n  b\tc "), "a b c");
  EXPECT_EQ(Readable(std::string(1000, 'x'), 10), "xxxxxxxxxx… [cut: 1000 bytes in all]");
}

TEST(CleanTextTest, ScrubsPeopleAndMachines) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"File \"/home/alice/x.py\"", "File \"~/x.py\""},
      {"/Users/bob/a", "~/a"},
      {"/root/.cache", "~/.cache"},
      {"/rootless/a", "/rootless/a"},
      {"/tmp/torchinductor_dave/ab/c.py", "<tmp>/ab/c.py"},
      {"/data/home/carol/x", "/data/<private>/x"},
      {"x/tmp/y/z", "x/<private>/z"},
      {"in torchinductor_erin/a", "in torchinductor/a"},
      {"/opt/e/lib/python3.11/site-packages/torch/x.py:3", "site-packages/torch/x.py:3"},
      {"C:\\Users\\dan\\x", "~\\x"},
      {"on Box7, not box77", "on <private>, not box77"},
      {"https://github.com/a/b", "https://github.com/a/b"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(Scrub(text, {"box7"}), expected);
}

TEST(CleanTextTest, MeasuresColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("日本"), 4u);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1u);
  EXPECT_EQ(FitWidth("abcdef", 4), "abc…");
  EXPECT_EQ(FitWidth("日本語", 4), "日…");
  EXPECT_EQ(PadWidth("é", 3), "é  ");
  EXPECT_EQ(WrapWords("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(WrapWords("abcdefghijkl", 8), (std::vector<std::string>{"abcdefgh", "ijkl"}));
  EXPECT_EQ(WrapWords("", 8), std::vector<std::string>{""});
}

}  // namespace
}  // namespace flce
