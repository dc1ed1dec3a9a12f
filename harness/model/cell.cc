#include "harness/model/cell.h"

#include <charconv>

#include "harness/base/text.h"

namespace flce {

Result<Shape> ParseShape(std::string_view text) {
  const std::vector<std::string> pieces = Split(text, 'x');
  int64_t numbers[3] = {};
  bool good = pieces.size() == 3;
  for (size_t i = 0; good && i < 3; ++i) {
    const std::string& piece = pieces[i];
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), numbers[i]);
    good = error == std::errc() && end == piece.data() + piece.size() && numbers[i] >= 1 && numbers[i] <= (int64_t{1} << 32);
  }
  if (!good)
    return Error{ErrorKind::kUsage, "--shape '" + std::string(text) + "': expected BTxHxV, three positive numbers such as 2048x1024x151936"};
  return Shape{numbers[0], numbers[1], numbers[2]};
}

std::string Text(const Shape& shape) {
  return std::to_string(shape.bt) + "x" + std::to_string(shape.h) + "x" + std::to_string(shape.v);
}

std::string Cell::Id() const {
  std::string fix_name = fix;
  // A patch file is named by its file name: its folder differs between machines.
  if (const size_t slash = fix_name.rfind('/'); slash != std::string::npos) fix_name = fix_name.substr(slash + 1);
  std::string liger_name = liger;
  if (const size_t slash = liger_name.rfind('/'); slash != std::string::npos) liger_name = liger_name.substr(slash + 1);
  std::string id = case_name + "/torch-" + torch + "/liger-" + liger_name + "/" + fix_name + "/" + std::string(Text(device.kind)) + "-" +
                   device.capability;
  // Two cards of one capability differ in memory and multiprocessors; the id names the card only when it was chosen.
  if (!device.id.empty()) id += "-" + device.id;
  if (device.count > 1) id += "-x" + std::to_string(device.count);
  if (shape) id += "/" + Text(*shape);
  if (seed) id += "/seed-" + std::to_string(*seed);
  return id;
}

}  // namespace flce
