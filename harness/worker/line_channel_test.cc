#include "harness/worker/line_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace flce::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Ends {
  Ends() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    near = LineChannel(fds[0]);
    far = fds[1];
  }
  void Send(std::string_view text) const { ASSERT_EQ(write(far, text.data(), text.size()), static_cast<ssize_t>(text.size())); }
  LineChannel near{-1};
  int far;
};

TEST(LineChannel, LinesAreWholeHoweverTheyArrive) {
  Ends ends;
  ends.Send("{\"a\":1}\n{\"b\"");
  EXPECT_THAT(ends.near.Read(), ElementsAre("{\"a\":1}"));
  ends.Send(":2}\n\nlast");
  EXPECT_THAT(ends.near.Read(), ElementsAre("{\"b\":2}"));
  close(ends.far);
  EXPECT_THAT(ends.near.Read(), IsEmpty());
  EXPECT_TRUE(ends.near.ended());
}

TEST(LineChannel, WritesALineAndToleratesAnEndThatIsGone) {
  Ends ends;
  EXPECT_TRUE(ends.near.Write("x"));
  char buffer[8] = {};
  EXPECT_EQ(read(ends.far, buffer, sizeof buffer), 2);
  EXPECT_STREQ(buffer, "x\n");
  close(ends.far);
  EXPECT_FALSE(ends.near.Write("x"));
}

}  // namespace
}  // namespace flce::worker
