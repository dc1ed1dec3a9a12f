#include "harness/worker/command.h"

int main(int argc, char** argv) { return flce::worker::Main(argc, argv); }
