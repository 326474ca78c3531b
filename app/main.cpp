#include "app/command_line.h"
#include "app/keep_memory.h"

int main(int argc, char** argv) {
  cachet::app::keep_memory();
  return cachet::app::run_command_line(argc, argv);
}
