// Many tables of one line become one; a real map stays.
#include "reports/folded_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/text.h"
#include "reports/markdown.h"
#include "reports/terminal.h"
#include "reports/testing/sample_cells.h"
#include "reports/testing/sample_run.h"

namespace flce {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using flce::testing::kTorches;
using flce::testing::MatrixCell;
using flce::testing::SampleOptions;

/// One cell of the sample matrix: tiers as there, of a case of this name.
CellRecord Cell(const std::string& case_name, size_t torch, const std::string& fix = "none", const std::string& capability = "9.0", const std::string& liger = "0.8.5") {
  CellRecord cell = MatrixCell(kTorches[torch], liger, fix, capability);
  cell.case_name = case_name;
  return cell;
}

RunRecord RunOf(std::vector<CellRecord> cells) {
  RunRecord run;
  run.cells = std::move(cells);
  return run;
}

/// Three cases on torch 2.7.1, 2.12.1 and 2.15.0.
RunRecord ThreeCases() {
  RunRecord run;
  for (const char* name : {"addmm", "flce-bias", "flce-softcap"})
    for (size_t torch : {0, 5, 8}) run.cells.push_back(Cell(name, torch));
  return run;
}

/// The tables of the terminal: what stands between the headline and the legend.
std::string TerminalTables(const RunRecord& run, size_t width = 80, bool unicode = true) {
  TerminalOptions terminal;
  terminal.width = width;
  terminal.unicode = unicode;
  const std::string text = RenderTerminal(run, SampleOptions(), terminal);
  const size_t begin = text.find("\n\n") + 2;
  return text.substr(begin, std::min(text.find("\n\n  1 Tier 1: "), text.find("\n\n  2 Tier 2: ")) + 1 - begin);
}

std::string MarkdownMatrix(const RunRecord& run) {
  const std::string text = RenderMarkdown(run, SampleOptions());
  const size_t begin = text.find("### Matrix\n") + 11;
  const size_t legend = text.rfind("\n\n", text.find("; m over the memory budget"));
  return text.substr(begin, legend + 1 - begin);
}

TEST(FoldedTableTest, CasesOfOneColumnAreRowsOfOneTable) {
  EXPECT_EQ(TerminalTables(ThreeCases()),
            "  Liger 0.8.5, emulated 9.0, no fix\n"
            "    case          2.7.1  2.12.1  2.15.0   <- torch\n"
            "    addmm         –      1       2\n"
            "    flce-bias     –      1       2\n"
            "    flce-softcap  –      1       2\n");
  EXPECT_EQ(MarkdownMatrix(ThreeCases()),
            "\nLiger 0.8.5, emulated 9.0, no fix\n\n"
            "| case | torch 2.7.1 | torch 2.12.1 | torch 2.15.0 |\n"
            "| --- | :-: | :-: | :-: |\n"
            "| addmm | – | 1 | 2 |\n"
            "| flce-bias | – | 1 | 2 |\n"
            "| flce-softcap | – | 1 | 2 |\n");
}

TEST(FoldedTableTest, TwoTablesStayApart) {
  RunRecord run = ThreeCases();
  run.cells.resize(6);
  const std::string text = TerminalTables(run);
  EXPECT_THAT(text, HasSubstr("  addmm, no fix\n    torch   0.8.5   <- Liger\n"));
  EXPECT_THAT(text, HasSubstr("  flce-bias, no fix\n    torch   0.8.5   <- Liger\n"));
  EXPECT_TRUE(FoldedMatrixTables(run, SampleOptions(), true).folded.empty());
}

TEST(FoldedTableTest, FixesAreRowsToo) {
  RunRecord run;
  // Fixes outermost, as a run may have them: the rows of a case stand together all the same.
  for (const char* fix : {"none", "guard"})
    for (const char* name : {"flce-softcap", "flce-bias"})
      for (size_t torch : {5, 8}) run.cells.push_back(Cell(name, torch, fix));
  EXPECT_EQ(TerminalTables(run),
            "  Liger 0.8.5, emulated 9.0\n"
            "    case          fix    2.12.1  2.15.0   <- torch\n"
            "    flce-softcap  none   1       2\n"
            "    flce-softcap  guard  ✓       ✓\n"
            "    flce-bias     none   1       2\n"
            "    flce-bias     guard  ✓       ✓\n");
}

TEST(FoldedTableTest, FixesOfOneCaseNameItOnce) {
  RunRecord run;
  for (const char* fix : {"none", "guard", "/home/alice/mine.patch"})
    for (size_t torch : {5, 8}) run.cells.push_back(Cell("flce-bias", torch, fix));
  EXPECT_EQ(TerminalTables(run),
            "  flce-bias, Liger 0.8.5, emulated 9.0\n"
            "    fix         2.12.1  2.15.0   <- torch\n"
            "    none        1       2\n"
            "    guard       ✓       ✓\n"
            "    mine.patch  ✓       ✓\n");
  EXPECT_THAT(MarkdownMatrix(run), Not(HasSubstr("alice")));
}

TEST(FoldedTableTest, ShapesAndSeedsAreRowsWhereTheyVary) {
  RunRecord run;
  for (uint64_t seed : {0, 1, 2})
    for (size_t torch : {5, 8}) {
      run.cells.push_back(Cell("flce-bias", torch));
      run.cells.back().shape = Shape{8, 16, 32};
      if (seed > 0) run.cells.back().seed = seed;
    }
  EXPECT_EQ(TerminalTables(run),
            "  flce-bias, Liger 0.8.5, emulated 9.0, no fix, 8x16x32\n"
            "    seed  2.12.1  2.15.0   <- torch\n"
            "    own   1       2\n"
            "    1     1       2\n"
            "    2     1       2\n");
}

TEST(FoldedTableTest, CasesOfOneTorchKeepLigerAndCapabilityAcross) {
  RunRecord run;
  for (const char* name : {"addmm", "flce-bias", "flce-softcap"})
    for (const char* liger : {"0.8.3", "0.8.5"})
      for (const char* capability : {"7.5", "8.0", "9.0"}) run.cells.push_back(Cell(name, 6, "none", capability, liger));
  // Here every device gives the same; beside the others it is a row like them.
  for (CellRecord& cell : run.cells)
    if (cell.case_name == "addmm") cell.verdict = run.cells[1].verdict;
  EXPECT_EQ(TerminalTables(run),
            "  torch 2.13.0, no fix\n"
            "                  0.8.3           0.8.5   <- Liger\n"
            "    case          7.5    8.0,9.0  7.5    8.0,9.0   <- capability\n"
            "    addmm         2      2        2      2\n"
            "    flce-bias     ○      2        ○      2\n"
            "    flce-softcap  ○      2        ○      2\n");
  EXPECT_THAT(MarkdownMatrix(run), HasSubstr("\ntorch 2.13.0, no fix\n\n| case | Liger 0.8.3<br>7.5 | Liger 0.8.3<br>8.0,9.0 | Liger 0.8.5<br>7.5 | Liger 0.8.5<br>8.0,9.0 |\n"));
}

TEST(FoldedTableTest, AnAxisThatDoesNotVaryIsSaidInWords) {
  RunRecord capabilities, ligers;
  for (const char* name : {"addmm", "flce-bias", "flce-softcap"}) {
    for (const char* capability : {"7.5", "9.0"}) capabilities.cells.push_back(Cell(name, 6, "none", capability));
    for (const char* liger : {"0.8.0", "0.8.5"}) ligers.cells.push_back(Cell(name, 6, "none", "9.0", liger));
  }
  EXPECT_THAT(TerminalTables(capabilities), HasSubstr("  torch 2.13.0, Liger 0.8.5, no fix\n    case          7.5  9.0   <- capability\n    addmm         ○    2\n"));
  EXPECT_THAT(TerminalTables(ligers), HasSubstr("  torch 2.13.0, emulated 9.0, no fix\n    case          0.8.0  0.8.5   <- Liger\n    addmm         –      2\n"));
  EXPECT_THAT(MarkdownMatrix(capabilities), HasSubstr("| case | capability 7.5 | capability 9.0 |\n"));
}

TEST(FoldedTableTest, AMapOfTwoDimensionsStays) {
  RunRecord run = ThreeCases();
  for (size_t torch : {5, 8})
    for (const char* capability : {"7.5", "9.0"}) run.cells.push_back(Cell("grid", torch, "none", capability));
  EXPECT_EQ(TerminalTables(run),
            "  Liger 0.8.5, emulated 9.0, no fix\n"
            "    case          2.7.1  2.12.1  2.15.0   <- torch\n"
            "    addmm         –      1       2\n"
            "    flce-bias     –      1       2\n"
            "    flce-softcap  –      1       2\n"
            "\n"
            "  grid, no fix\n"
            "    torch   0.8.5   <- Liger\n"
            "            7.5    9.0     <- capability\n"
            "    2.12.1  ○      1\n"
            "    2.15.0  ○      2\n");
}

TEST(FoldedTableTest, ACaseOfOneCellJoinsTheOthersOfItsPlaceOnly) {
  RunRecord run = ThreeCases();
  run.cells.push_back(Cell("only-newest", 8));
  run.cells.push_back(Cell("elsewhere", 8, "none", "7.5"));
  const std::string tables = TerminalTables(run);
  EXPECT_THAT(tables, HasSubstr("\n    only-newest                  2\n"));
  EXPECT_THAT(tables, HasSubstr("\n  Single cells\n    ○   elsewhere, no fix: not exercised on torch 2.15.0, Liger 0.8.5, 7.5\n"));
  EXPECT_THAT(MarkdownMatrix(run), HasSubstr("| only-newest |  |  | 2 |\n\nSingle cells\n\n- ○ elsewhere, no fix: not exercised on torch 2.15.0, Liger 0.8.5, 7.5\n"));
}

TEST(FoldedTableTest, CasesOfOneCellEachAreAList) {
  const RunRecord run = RunOf({Cell("addmm", 5), Cell("flce-bias", 5), Cell("flce-softcap", 5)});
  EXPECT_EQ(TerminalTables(run),
            "  Single cells\n"
            "    1   addmm, no fix: Tier 1 on torch 2.12.1, Liger 0.8.5, 9.0\n"
            "    1   flce-bias, no fix: Tier 1 on torch 2.12.1, Liger 0.8.5, 9.0\n"
            "    1   flce-softcap, no fix: Tier 1 on torch 2.12.1, Liger 0.8.5, 9.0\n");
}

TEST(FoldedTableTest, FixesGoAcrossWhereNothingElseVaries) {
  RunRecord run;
  for (const char* fix : {"none", "guard", "core-decomposition"})
    for (const char* name : {"flce-softcap", "flce-bias", "addmm"}) run.cells.push_back(Cell(name, 8, fix));
  run.cells.pop_back();
  EXPECT_EQ(TerminalTables(run),
            "  torch 2.15.0, Liger 0.8.5, emulated 9.0\n"
            "    case          none  guard  core-decomposition   <- fix\n"
            "    flce-softcap  2     ✓      ✓\n"
            "    flce-bias     2     ✓      ✓\n"
            "    addmm         2     ✓\n");
  EXPECT_EQ(MarkdownMatrix(run),
            "\ntorch 2.15.0, Liger 0.8.5, emulated 9.0\n\n"
            "| case | no fix | fix guard | fix core-decomposition |\n"
            "| --- | :-: | :-: | :-: |\n"
            "| flce-softcap | 2 | ✓ | ✓ |\n"
            "| flce-bias | 2 | ✓ | ✓ |\n"
            "| addmm | 2 | ✓ |  |\n");
  // Devices that agree are one: the fixes still go across.
  const std::vector<CellRecord> cells = run.cells;
  for (CellRecord cell : cells) {
    cell.capability = "8.0";
    run.cells.push_back(cell);
  }
  EXPECT_THAT(TerminalTables(run), HasSubstr("  torch 2.15.0, Liger 0.8.5, emulated 8.0,9.0\n    case          none  guard  core-decomposition   <- fix\n"));
}

TEST(FoldedTableTest, GoesOnBelowAndCutsNamesWhereTheTerminalIsNarrow) {
  RunRecord run = ThreeCases();
  for (CellRecord& cell : run.cells) cell.case_name += "-with-a-name-that-is-too-long";
  EXPECT_EQ(TerminalTables(run, 44, false),
            "  Liger 0.8.5, emulated 9.0, no fix\n"
            "    case              2.7.1   <- torch\n"
            "    addmm-with-a-...  -\n"
            "    flce-bias-wit...  -\n"
            "    flce-softcap-...  -\n"
            "\n"
            "    case              2.12.1   <- torch\n"
            "    addmm-with-a-...  1\n"
            "    flce-bias-wit...  1\n"
            "    flce-softcap-...  1\n"
            "\n"
            "    case              2.15.0   <- torch\n"
            "    addmm-with-a-...  2\n"
            "    flce-bias-wit...  2\n"
            "    flce-softcap-...  2\n");
  for (size_t width : {40, 60, 72})
    for (std::string_view line : Lines(TerminalTables(run, width, false))) EXPECT_LE(line.size(), width) << line;
}

TEST(FoldedTableTest, ADeviceThatIsNoVersionIsOneColumn) {
  RunRecord run = RunOf({Cell("addmm", 5), Cell("addmm", 5), Cell("addmm", 8), Cell("addmm", 8)});
  for (CellRecord& cell : run.cells) cell.device_kind = DeviceKind::kCuda;
  run.cells[1].capability = run.cells[3].capability = "7.5";
  run.cells[1].verdict = Cell("addmm", 5, "none", "7.5").verdict;
  const std::vector<MatrixTable> tables = MatrixTables(run, SampleOptions(), true);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].columns.size(), 2u);
  EXPECT_EQ(tables[0].columns[0].devices, std::vector<std::string>{"gpu 9.0"});
  EXPECT_EQ(tables[0].columns[1].devices, std::vector<std::string>{"gpu 7.5"});
}

}  // namespace
}  // namespace flce
