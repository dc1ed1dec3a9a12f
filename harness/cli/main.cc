#include "harness/cli/app.h"

int main(int argc, char** argv) { return flce::FlceReproMain(argc, argv); }
