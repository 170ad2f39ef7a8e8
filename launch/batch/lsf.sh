#!/bin/bash
# cpt_dist under LSF. Submit it once: after time limits and lost hosts it continues until the model is trained.
#
#   bsub <lsf.sh                                            with the lines below edited
#   DATA=train RUN=runs/ads bsub -n 64 <lsf.sh              or without
#   bsub -J 'cpt_dist[1-20]%1' <lsf.sh                      a chain of jobs, if they may not be requeued
#
#BSUB -J cpt_dist
#BSUB -n 4
#BSUB -W 24:00
#BSUB -o cpt_dist-%J.out
# LSF runs it again from the beginning after it lost a host, and queues it again if it exits with 75.
#BSUB -r
#BSUB -Q "75"
# Send USR2 to all processes of the job this many minutes before the time limit.
#BSUB -wa USR2
#BSUB -wt 5

# With arguments such as --help, print the comment above. Outside a job, say how to submit this file.
if (($# > 0)); then
  show_head=(sed -n '2,$ { /^#BSUB/ q; s/^# \{0,1\}//p }' "$0")
  if [[ $1 == --help || $1 == -h ]]; then "${show_head[@]}" && exit 0; fi
  "${show_head[@]}" >&2
  exit 2
fi
if [[ -z ${LSB_JOBID-} ]]; then
  printf '%s is a job of LSF: submit it with bsub <%s\n' "${0##*/}" "$0" >&2
  exit 2
fi

# What to run. Variables of the environment take precedence.
: "${RANKS:=${LSB_DJOB_NUMPROC:-4}}"
: "${DATA:=train}"                          # a file, a folder, or a quoted pattern
: "${RUN:=runs/cpt_dist}"                   # on a file system that all hosts share
: "${OPTIONS:=--checkpoint-every 10m}"      # more options of cpt_dist, separated by white space
: "${CPT_DIST:=cpt_dist}"                   # the program, if it is not on the path
: "${MPIRUN_OPTIONS:=}"

say() { printf '%s job %s: %s\n' "$(date '+%F %T')" "$LSB_JOBID" "$*"; }
# Complete checkpoints, by name.
checkpoints() { ls -d "$RUN"/checkpoints/*/MANIFEST 2>/dev/null; }

if [[ -e $RUN/summary.json ]]; then
  say "$RUN/summary.json exists: the run is finished"
  exit 0
fi

child='' interrupted='' asked='' reminder=''
# pass SIGNAL: mpirun passes USR1 and USR2 on to all ranks. At USR2 they write a checkpoint and exit with 75.
pass() {
  interrupted=yes
  if [[ -n $child ]]; then kill -s "$1" "$child" 2>/dev/null; fi
}
# remind: repeats the request until mpirun is gone, since mpirun or a rank that is just starting may miss it.
remind() {
  trap '' USR1 USR2 TERM INT
  while sleep 5 && kill -USR2 "$child"; do :; done
}
# ask REASON: a notice that follows an end does not cancel it.
ask() {
  if [[ $asked != stop ]]; then asked=$1; fi
  pass USR2
  if [[ -n $child && -z $reminder ]]; then
    remind >/dev/null 2>&1 &
    reminder=$!
    disown "$reminder"  # bash would report its end
  fi
}
trap 'pass USR1' USR1     # write a checkpoint, go on
trap 'ask requeue' USR2   # the time limit is near, or reached
trap 'ask stop' TERM INT  # bkill, or pre-emption that ends jobs: no restart

# start COMMAND...: replaces this process and blocks TERM and INT. LSF sends them to all processes of a job, and mpirun
# would kill the ranks two seconds later, in the middle of a checkpoint.
start() {
  if env --block-signal=TERM,INT true 2>/dev/null; then exec env --block-signal=TERM,INT "$@"; fi
  exec "$@"
}

before=$(checkpoints)
read -rd '' -a options <<<"$OPTIONS"
read -rd '' -a mpirun_options <<<"$MPIRUN_OPTIONS"
if [[ -n ${LSB_DJOB_HOSTFILE-} ]]; then mpirun_options=(--hostfile "$LSB_DJOB_HOSTFILE" "${mpirun_options[@]}"); fi
say "$RANKS ranks, $RUN"
start mpirun "${mpirun_options[@]}" -n "$RANKS" "$CPT_DIST" --resume --data "$DATA" --run "$RUN" "${options[@]}" &
child=$!
if [[ -n $asked ]]; then ask "$asked"; fi  # the signal came before mpirun was started

# A trap ends `wait` early, with a status that is not the one of mpirun.
while :; do
  interrupted=
  wait "$child"
  status=$?
  if [[ -z $interrupted ]]; then break; fi
done
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
if [[ $asked == stop ]] && ((status == 75)); then status=143; fi
exit "$status"
