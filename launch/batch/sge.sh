#!/bin/bash
# cpt_dist under Grid Engine (SGE, UGE, SoGE). Submit it once: after time limits, suspension and lost hosts it continues
# until the model is trained.
#
#   qsub sge.sh                                             with the lines below edited
#   DATA=train RUN=runs/ads qsub -v DATA,RUN sge.sh         or without
#   qsub -t 1-20 -tc 1 sge.sh                               a chain of jobs, if they may not be rescheduled
#
#$ -N cpt_dist
#$ -S /bin/bash
#$ -cwd
#$ -j y
#$ -pe mpi 4
# USR1 comes at s_rt, the end at h_rt. Allow for a checkpoint between them.
#$ -l s_rt=23:55:00,h_rt=24:00:00
# Send USR1 before a suspension and USR2 before the end, by the seconds that the queue sets as `notify`.
#$ -notify
# Grid Engine runs it again from the beginning after it lost a host, and if it exits with 99.
#$ -r y

# With arguments such as --help, print the comment above. Outside a job, say how to submit this file.
if (($# > 0)); then
  show_head=(sed -n '2,$ { /^#\$/ q; s/^# \{0,1\}//p }' "$0")
  if [[ $1 == --help || $1 == -h ]]; then "${show_head[@]}" && exit 0; fi
  "${show_head[@]}" >&2
  exit 2
fi
if [[ -z ${JOB_ID-} ]]; then
  printf '%s is a job of Grid Engine: submit it with qsub %s\n' "${0##*/}" "$0" >&2
  exit 2
fi

# What to run. Variables of the environment take precedence.
: "${RANKS:=${NSLOTS:-4}}"
: "${DATA:=train}"                          # a file, a folder, or a quoted pattern
: "${RUN:=runs/cpt_dist}"                   # on a file system that all hosts share
: "${OPTIONS:=--checkpoint-every 10m}"      # more options of cpt_dist, separated by white space
: "${CPT_DIST:=cpt_dist}"                   # the program, if it is not on the path
: "${MPIRUN_OPTIONS:=}"

say() { printf '%s job %s: %s\n' "$(date '+%F %T')" "$JOB_ID" "$*"; }
# Complete checkpoints, by name.
checkpoints() { ls -d "$RUN"/checkpoints/*/MANIFEST 2>/dev/null; }

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
trap 'ask requeue' USR1    # the time limit is near, or the job is about to be suspended
trap 'ask stop' USR2 TERM  # the job is about to be ended: qdel

# start COMMAND...: replaces this process and blocks TERM, on which mpirun would kill the ranks in mid-checkpoint.
start() {
  if env --block-signal=TERM true 2>/dev/null; then exec env --block-signal=TERM "$@"; fi
  exec "$@"
}

before=$(checkpoints)
read -rd '' -a options <<<"$OPTIONS"
read -rd '' -a mpirun_options <<<"$MPIRUN_OPTIONS"
say "$RANKS ranks, restarted ${RESTARTED:-0}, $RUN"
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
if [[ $asked != stop ]] && ((status == 75)); then
  status=99
fi
exit "$status"
