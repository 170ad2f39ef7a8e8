// Standard input, output and error, which a program may be started without.
#pragma once

namespace cpt {

// First of all in main. A file that is opened while a standard stream is closed takes its number: messages would then
// be written into a model, or a socket of MPI be read as input. Afterwards a closed stream fails when it is used, and
// nothing else can take its place. Throws Error(kFailed).
void occupy_closed_streams();

}  // namespace cpt
