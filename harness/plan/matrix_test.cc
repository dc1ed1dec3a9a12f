#include "harness/plan/matrix.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

SelectionSpec Spec() {
  SelectionSpec spec;
  spec.torch = {"2.12.1", "2.13.0"};
  spec.liger = {"0.8.5"};
  spec.fixes = {"none"};
  spec.cases = {"a", "b"};
  spec.devices = {{DeviceKind::kEmulated, "8.0", "", 1}, {DeviceKind::kEmulated, "12.1", "", 1}};
  return spec;
}

std::vector<std::string> Ids(const SelectionSpec& spec) {
  std::vector<std::string> ids;
  const std::vector<Cell> cells = ExpandMatrix(spec).value();
  for (const Cell& cell : cells) ids.push_back(cell.Id());
  return ids;
}

TEST(MatrixTest, TheOrderIsThatOfTheListsWithTheEnvironmentOutermost) {
  EXPECT_EQ(Ids(Spec()), (std::vector<std::string>{
                             "a/torch-2.12.1/liger-0.8.5/none/emulated-8.0",
                             "b/torch-2.12.1/liger-0.8.5/none/emulated-8.0",
                             "a/torch-2.12.1/liger-0.8.5/none/emulated-12.1",
                             "b/torch-2.12.1/liger-0.8.5/none/emulated-12.1",
                             "a/torch-2.13.0/liger-0.8.5/none/emulated-8.0",
                             "b/torch-2.13.0/liger-0.8.5/none/emulated-8.0",
                             "a/torch-2.13.0/liger-0.8.5/none/emulated-12.1",
                             "b/torch-2.13.0/liger-0.8.5/none/emulated-12.1",
                         }));
}

TEST(MatrixTest, EachSeedAndShapeIsACellOfItsOwn) {
  SelectionSpec spec = Spec();
  spec.torch = {"2.13.0"};
  spec.cases = {"a"};
  spec.devices.resize(1);
  spec.shapes = {std::nullopt, Shape{2, 3, 4}};
  spec.seeds = {std::nullopt, 7};
  EXPECT_EQ(Ids(spec), (std::vector<std::string>{
                           "a/torch-2.13.0/liger-0.8.5/none/emulated-8.0",
                           "a/torch-2.13.0/liger-0.8.5/none/emulated-8.0/seed-7",
                           "a/torch-2.13.0/liger-0.8.5/none/emulated-8.0/2x3x4",
                           "a/torch-2.13.0/liger-0.8.5/none/emulated-8.0/2x3x4/seed-7",
                       }));
}

TEST(MatrixTest, ExcludeRemovesAndOnlyKeeps) {
  SelectionSpec spec = Spec();
  spec.exclude = {*CellPattern::Parse("torch<2.13;capability=12.1"), *CellPattern::Parse("case=b")};
  spec.only = {*CellPattern::Parse("capability>=9"), *CellPattern::Parse("torch=2.12")};
  EXPECT_EQ(Ids(spec), (std::vector<std::string>{
                           "a/torch-2.12.1/liger-0.8.5/none/emulated-8.0",
                           "a/torch-2.13.0/liger-0.8.5/none/emulated-12.1",
                       }));
}

TEST(MatrixTest, ARepeatedValueMakesOneCell) {
  SelectionSpec spec = Spec();
  spec.cases = {"a", "a"};
  EXPECT_EQ(ExpandMatrix(spec)->size(), 4u);
}

TEST(MatrixTest, AnEmptyAxisIsNamedAndAnEmptyResultIsNot) {
  SelectionSpec spec = Spec();
  spec.only = {*CellPattern::Parse("case=c")};
  EXPECT_TRUE(ExpandMatrix(spec)->empty());
  spec.liger.clear();
  EXPECT_EQ(ExpandMatrix(spec).error().message, "nothing is selected: the list of --liger is empty");
}

}  // namespace
}  // namespace flce
