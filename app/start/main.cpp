#include "cachet/command_line.h"

int main(int argc, char** argv) { return cachet::run_command_line(argc, argv); }
