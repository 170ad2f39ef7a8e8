// Signals that whoever started the process does not mean for it.
#pragma once

namespace cpt {

// As shells have SIGINT for what they start in the background, and nohup SIGHUP.
bool is_ignored(int signal);

}  // namespace cpt
