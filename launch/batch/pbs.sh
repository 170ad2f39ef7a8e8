#!/bin/bash
# cpt_dist under PBS (OpenPBS, PBS Professional, Torque). Submitted once, it goes on over time limits and lost nodes
# until the model is there.
#
#   qsub pbs.sh                                             with the lines below edited
#   DATA=train RUN=runs/ads qsub -v DATA,RUN pbs.sh         or without
#   SCRIPT=~/batch/pbs.sh qsub -v SCRIPT ~/batch/pbs.sh     where it is not in the current folder
#
#PBS -N cpt_dist
#PBS -l select=1:ncpus=4:mpiprocs=4
#PBS -l walltime=24:00:00
#PBS -j oe
# PBS may run it again from the top after it lost a node.
#PBS -r y

# --help, or any other word, shows the comment above. Only a job goes on.
if (($# > 0)); then
  show_head=(sed -n '2,$ { /^#PBS/ q; s/^# \{0,1\}//p }' "$0")
  if [[ $1 == --help || $1 == -h ]]; then "${show_head[@]}" && exit 0; fi
  "${show_head[@]}" >&2
  exit 2
fi
if [[ -z ${PBS_JOBID-} ]]; then
  printf '%s is a job of PBS: submit it with qsub %s\n' "${0##*/}" "$0" >&2
  exit 2
fi

cd "${PBS_O_WORKDIR:-.}" || exit 1

# What to run. What the environment sets already stays.
: "${RANKS:=$(wc -l <"$PBS_NODEFILE")}"
: "${DATA:=train}"                          # a file, a folder, or a quoted pattern
: "${RUN:=runs/cpt_dist}"                   # on a file system that all nodes share
: "${OPTIONS:=--checkpoint-every 10m}"      # more options of cpt_dist, separated by spaces
: "${CPT_DIST:=cpt_dist}"                   # the program, if it is not on the path
: "${MPIRUN_OPTIONS:=}"
: "${SCRIPT:=$PWD/pbs.sh}"                  # this file, for the job that follows; PBS runs a copy of it
: "${NOTICE:=180}"                          # seconds before the time is up: more than a checkpoint takes, plus a minute
# What PBS knows of this job. It breaks long lines, and goes on after a tab.
job=$(qstat -f "$PBS_JOBID" 2>/dev/null | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n\t//g')
# attribute NAME: empty if there is none.
attribute() { sed -n "s/^ *$1 = //p" <<<"$job"; }
# The time limit, [[hours:]minutes:]seconds. PBS gives no notice before it, so this script keeps the time itself.
: "${WALLTIME:=$(attribute 'Resource_List\.walltime')}"
export RANKS DATA RUN OPTIONS CPT_DIST MPIRUN_OPTIONS SCRIPT NOTICE

say() { printf '%s job %s: %s\n' "$(date '+%F %T')" "$PBS_JOBID" "$*"; }

if [[ ! -f $SCRIPT ]]; then
  say "SCRIPT=$SCRIPT is not there: submit with SCRIPT=.../pbs.sh, the path of this file, and qsub -v SCRIPT"
  exit 2
fi

if [[ -e $RUN/summary.json ]]; then
  say "$RUN/summary.json is there, so nothing is left to do"
  exit 0
fi

child='' interrupted='' asked=''
# ask REASON: mpirun passes USR2 on to all ranks, which write a checkpoint and exit with 75. An end stays one: the notice
# may come after it.
ask() {
  if [[ $asked != stop ]]; then asked=$1; fi
  interrupted=yes
  if [[ -n $child ]]; then kill -USR2 "$child" 2>/dev/null; fi
}
# Time is nearly up (or somebody says `qsig -s USR1`): this script sees to it that the job goes on.
trap 'ask requeue' USR1
# PBS ends the job and has decided what comes next: nothing (qdel), or a rerun of its own (pre-emption).
trap 'ask stop' TERM USR2

# start COMMAND...: in this process, deaf to TERM. PBS sends it to all processes of a job, and mpirun would kill the
# ranks two seconds later, in mid-checkpoint. Those still hear it: mpirun unblocks signals for its children.
start() {
  if env --block-signal=TERM true 2>/dev/null; then exec env --block-signal=TERM "$@"; fi
  exec "$@"
}

# keep_time SECONDS: sends this script USR1 then. Ends with the script.
keep_time() {
  local sleeper='' over=''
  trap 'over=yes; if [[ -n $sleeper ]]; then kill "$sleeper"; fi' TERM
  sleep "$1" &
  sleeper=$!
  if [[ -n $over ]]; then kill "$sleeper"; fi
  wait "$sleeper" && kill -USR1 $$
}

# in_seconds TIME
in_seconds() {
  local total=0 part
  for part in ${1//:/ }; do total=$((total * 60 + 10#$part)); done
  printf '%s\n' "$total"
}

# submit_successor: with what this job was given, on qsub's command line or below #PBS.
submit_successor() {
  local given=() resource value nodes=select
  # PBS Professional makes a select of nodes, shows both, and takes one.
  if [[ -z $(attribute 'Resource_List\.select') ]]; then nodes=nodes; fi
  for resource in "$nodes" walltime; do
    value=$(attribute "Resource_List\\.$resource")
    if [[ -n $value ]]; then given+=(-l "$resource=$value"); fi
  done
  # Not the queue that the job is in: the one it was given to may have passed it on to one that takes no others.
  if [[ -n ${PBS_O_QUEUE-} ]]; then given+=(-q "$PBS_O_QUEUE"); fi
  value=$(attribute Account_Name)
  if [[ -n $value ]]; then given+=(-A "$value"); fi
  qsub "${given[@]}" -W "depend=afterany:$PBS_JOBID" \
    -v RANKS,DATA,RUN,OPTIONS,CPT_DIST,MPIRUN_OPTIONS,SCRIPT,NOTICE "$SCRIPT"
}

read -ra options <<<"$OPTIONS"
read -ra mpirun_options <<<"$MPIRUN_OPTIONS"
say "$RANKS ranks, $RUN, ${WALLTIME:-no time limit known}"
start mpirun --hostfile "$PBS_NODEFILE" "${mpirun_options[@]}" -n "$RANKS" \
  "$CPT_DIST" --resume --data "$DATA" --run "$RUN" "${options[@]}" &
child=$!
if [[ -n $asked ]]; then ask "$asked"; fi  # it was asked for before there was anybody to ask
timer=
if [[ -n $WALLTIME ]]; then
  keep_time $(($(in_seconds "$WALLTIME") - NOTICE)) &
  timer=$!
fi

# A trap ends `wait` early, with a status that is not the child's.
while :; do
  interrupted=
  wait "$child"
  status=$?
  if [[ -z $interrupted ]]; then break; fi
done
if [[ -n $timer ]]; then kill "$timer" 2>/dev/null; fi
say "exit status $status${asked:+, asked to $asked}"

# Above 128: the signal came before the ranks listened, or they were too slow. There is the checkpoint before.
if [[ $asked == requeue ]] && ((status > 128)); then status=75; fi
if [[ $asked != stop ]] && ((status == 75)); then
  # Most sites keep qrerun for operators; a job that follows this one does as well.
  qrerun "$PBS_JOBID" 2>/dev/null || submit_successor ||
    say "cannot be requeued; submit it again with the same RUN, and it goes on"
fi
exit "$status"
