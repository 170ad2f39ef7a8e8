#!/bin/bash
# cpt_dist under PBS (OpenPBS, PBS Professional, Torque). Submit it once: after time limits and lost nodes it continues
# until the model is trained.
#
#   qsub pbs.sh                                             with the lines below edited
#   DATA=train RUN=runs/ads qsub -v DATA,RUN pbs.sh         or without
#   SCRIPT=~/batch/pbs.sh qsub -v SCRIPT ~/batch/pbs.sh     if it is not in the current folder
#
#PBS -N cpt_dist
#PBS -l select=1:ncpus=4:mpiprocs=4
#PBS -l walltime=24:00:00
#PBS -j oe
# PBS may run it again from the beginning after it lost a node.
#PBS -r y

# With arguments such as --help, print the comment above. Outside a job, say how to submit this file.
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

# What to run. Variables of the environment take precedence.
: "${RANKS:=$(wc -l <"$PBS_NODEFILE")}"
: "${DATA:=train}"                          # a file, a folder, or a quoted pattern
: "${RUN:=runs/cpt_dist}"                   # on a file system that all nodes share
: "${OPTIONS:=--checkpoint-every 10m}"      # more options of cpt_dist, separated by white space
: "${CPT_DIST:=cpt_dist}"                   # the program, if it is not on the path
: "${MPIRUN_OPTIONS:=}"
: "${SCRIPT:=$PWD/pbs.sh}"                  # this file, for the job that follows; PBS runs a copy of it
: "${NOTICE:=180}"                          # seconds before the time limit; allow for a checkpoint plus a minute
# The attributes of this job. PBS breaks long values; a continuation line begins with a tab.
job=$(qstat -f "$PBS_JOBID" 2>/dev/null | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n\t//g')
# attribute NAME: empty if there is none.
attribute() { sed -n "s/^ *$1 = //p" <<<"$job"; }
# The time limit, [[hours:]minutes:]seconds. PBS sends no notice before it, so this script has a timer.
: "${WALLTIME:=$(attribute 'Resource_List\.walltime')}"
export RANKS DATA RUN OPTIONS CPT_DIST MPIRUN_OPTIONS SCRIPT NOTICE

say() { printf '%s job %s: %s\n' "$(date '+%F %T')" "$PBS_JOBID" "$*"; }
# Complete checkpoints, by name.
checkpoints() { ls -d "$RUN"/checkpoints/*/MANIFEST 2>/dev/null; }

if [[ ! -f $SCRIPT ]]; then
  say "SCRIPT=$SCRIPT does not exist: submit with SCRIPT=.../pbs.sh, the path of this file, and qsub -v SCRIPT"
  exit 2
fi

if [[ -e $RUN/summary.json ]]; then
  say "$RUN/summary.json exists: the run is finished"
  exit 0
fi

child='' interrupted='' asked='' reminder=''
# remind: repeats the request until mpirun is gone, since mpirun or a rank that is just starting may miss it.
remind() {
  trap '' USR1 USR2 TERM
  while sleep 5 && kill -USR2 "$child"; do :; done
}
# ask REASON: mpirun passes USR2 on to all ranks, which write a checkpoint and exit with 75. A notice that follows an end
# does not cancel it.
ask() {
  if [[ $asked != stop ]]; then asked=$1; fi
  interrupted=yes
  if [[ -n $child ]]; then kill -USR2 "$child" 2>/dev/null; fi
  if [[ -n $child && -z $reminder ]]; then
    remind >/dev/null 2>&1 &
    reminder=$!
    disown "$reminder"  # bash would report its end
  fi
}
# The time limit is near (or somebody runs `qsig -s USR1`): this script requeues the job.
trap 'ask requeue' USR1
# PBS ends the job, and reruns it itself (pre-emption) or not at all (qdel).
trap 'ask stop' TERM USR2

# start COMMAND...: replaces this process and blocks TERM. PBS sends TERM to all processes of a job, and mpirun would kill
# the ranks two seconds later, in the middle of a checkpoint. The ranks still get TERM: mpirun unblocks it for its children.
start() {
  if env --block-signal=TERM true 2>/dev/null; then exec env --block-signal=TERM "$@"; fi
  exec "$@"
}

# keep_time SECONDS: sends USR1 to this script after this time. The script ends it with TERM.
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

# submit_successor: submits this script again, with the resources, queue and account of this job.
submit_successor() {
  local given=() resource value nodes=select
  # PBS Professional derives select from nodes and shows both, but accepts only one of them.
  if [[ -z $(attribute 'Resource_List\.select') ]]; then nodes=nodes; fi
  for resource in "$nodes" walltime; do
    value=$(attribute "Resource_List\\.$resource")
    if [[ -n $value ]]; then given+=(-l "$resource=$value"); fi
  done
  # The queue it was submitted to. That queue may have routed it to one that accepts no direct submissions.
  if [[ -n ${PBS_O_QUEUE-} ]]; then given+=(-q "$PBS_O_QUEUE"); fi
  value=$(attribute Account_Name)
  if [[ -n $value ]]; then given+=(-A "$value"); fi
  qsub "${given[@]}" -W "depend=afterany:$PBS_JOBID" \
    -v RANKS,DATA,RUN,OPTIONS,CPT_DIST,MPIRUN_OPTIONS,SCRIPT,NOTICE "$SCRIPT"
}

before=$(checkpoints)
read -rd '' -a options <<<"$OPTIONS"
read -rd '' -a mpirun_options <<<"$MPIRUN_OPTIONS"
say "$RANKS ranks, $RUN, ${WALLTIME:-no time limit known}"
start mpirun --hostfile "$PBS_NODEFILE" "${mpirun_options[@]}" -n "$RANKS" \
  "$CPT_DIST" --resume --data "$DATA" --run "$RUN" "${options[@]}" &
child=$!
if [[ -n $asked ]]; then ask "$asked"; fi  # the signal came before mpirun was started
timer=
if [[ -n $WALLTIME ]]; then
  left=$(($(in_seconds "$WALLTIME") - NOTICE))
  keep_time $((left > 0 ? left : 1)) &
  timer=$!
fi

# A trap ends `wait` early, with a status that is not the one of mpirun.
while :; do
  interrupted=
  wait "$child"
  status=$?
  if [[ -z $interrupted ]]; then break; fi
done
if [[ -n $timer ]]; then kill "$timer" 2>/dev/null; fi
if [[ -n $reminder ]]; then kill -KILL "$reminder" 2>/dev/null; fi
say "exit status $status${asked:+, asked to $asked}"

# Above 128: the ranks did not handle the signal yet, or were too slow. The previous checkpoint remains.
if [[ $asked == requeue ]] && ((status > 128)); then status=75; fi
# An error of input or output: a file system may be gone for minutes. But a job that left no new checkpoint would fail again.
if [[ -z $asked ]] && ((status == 66 || status == 73)); then
  sleep 60
  after=$(checkpoints)
  if [[ -n $after && $after != "$before" ]]; then status=75; fi
fi
if [[ $asked != stop ]] && ((status == 75)); then
  # Most sites reserve qrerun for operators; then a successor continues.
  qrerun "$PBS_JOBID" 2>/dev/null || submit_successor ||
    say "cannot be requeued; submit it again with the same RUN to continue"
fi
exit "$status"
