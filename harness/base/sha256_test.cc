#include "harness/base/sha256.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

TEST(Sha256Test, KnownAnswers) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesGiveTheHashOfTheWhole) {
  for (const size_t size : {55, 56, 63, 64, 65, 119, 120, 128}) {
    const std::string text(size, 'x');
    Sha256 hash;
    for (const char c : text) hash.Update(std::string_view(&c, 1));
    EXPECT_EQ(hash.Hex(), Sha256Hex(text)) << size;
  }
}

TEST(Sha256Test, AFileAndAnAbsentFile) {
  const fs::path path = fs::path(testing::TempDir()) / "sha256_test.txt";
  ASSERT_TRUE(WriteFileAtomically(path, "abc").ok());
  EXPECT_EQ(*Sha256OfFile(path), Sha256Hex("abc"));
  fs::remove(path);
  EXPECT_EQ(Sha256OfFile(path).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace flce
