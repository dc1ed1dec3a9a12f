#include "harness/worker/nursery.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

namespace flce::worker {
namespace {

pid_t Fork(const std::function<void()>& life) {
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid != 0) return pid;
  BecomeGroupLeader(parent);
  life();
  _exit(0);
}

std::vector<CellEnd> WaitForAll(Nursery& nursery) {
  std::vector<CellEnd> all;
  while (nursery.size() > 0) {
    std::vector<pollfd> watched;
    int timeout = -1;
    nursery.Prepare(&watched, &timeout);
    poll(watched.data(), watched.size(), timeout);
    for (CellEnd& end : nursery.Reap()) all.push_back(end);
  }
  return all;
}

CellEnd EndOf(const std::function<void()>& life, double deadline_s = 0, uint64_t memory_bytes = 0) {
  Nursery nursery;
  nursery.Adopt(Fork(life), "cell", deadline_s, memory_bytes);
  return WaitForAll(nursery).at(0);
}

void Forever() {
  for (;;) pause();
}

TEST(Nursery, EveryEndIsToldApart) {
  CellEnd code = EndOf([] { _exit(3); });
  EXPECT_EQ(code.kind, CellEnd::Kind::kCode);
  EXPECT_EQ(code.value, 3);
  EXPECT_GT(code.max_rss_bytes, 100'000u);

  CellEnd signalled = EndOf([] {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  });
  EXPECT_EQ(signalled.kind, CellEnd::Kind::kSignal);
  EXPECT_EQ(signalled.value, SIGSEGV);

  CellEnd late = EndOf(Forever, 0.05);
  EXPECT_EQ(late.kind, CellEnd::Kind::kTimedOut);
  EXPECT_GE(late.seconds, 0.05);

  CellEnd large = EndOf(
      [] {
        size_t size = 256u << 20;
        void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(block, 1, size);
        Forever();
      },
      30, 128u << 20);
  EXPECT_EQ(large.kind, CellEnd::Kind::kOutOfMemory);

  // Killed by someone else: a signal, not a limit of ours.
  CellEnd killed = EndOf([] { raise(SIGKILL); }, 30);
  EXPECT_EQ(killed.kind, CellEnd::Kind::kSignal);
  EXPECT_EQ(killed.value, SIGKILL);
}

TEST(Nursery, CancelByName) {
  Nursery nursery;
  nursery.Adopt(Fork(Forever), "one", 0, 0);
  nursery.Adopt(Fork([] { _exit(0); }), "two", 0, 0);
  EXPECT_FALSE(nursery.Cancel("three"));
  EXPECT_TRUE(nursery.Cancel("one"));
  for (const CellEnd& end : WaitForAll(nursery)) {
    EXPECT_EQ(end.kind, end.cell_id == "one" ? CellEnd::Kind::kCancelled : CellEnd::Kind::kCode);
  }
}

TEST(Nursery, HelpersThatACellLeavesBehindDieWithIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Nursery nursery;
  nursery.Adopt(Fork([&] {
                  if (fork() == 0) {
                    close(ends[0]);
                    Forever();
                  }
                }),
                "cell", 0, 0);
  WaitForAll(nursery);
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "the helper, which holds the other end, must be gone";
  close(ends[0]);
}

TEST(Nursery, TheDestructorKills) {
  pid_t pid;
  {
    Nursery nursery;
    pid = Fork(Forever);
    nursery.Adopt(pid, "cell", 0, 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace flce::worker
