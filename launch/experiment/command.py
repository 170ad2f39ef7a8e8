"""The command line of launch/experiments."""
import argparse
import math
import subprocess
import sys
from pathlib import Path

import page
import rcv1
import web_ads
from out_folder import OutFolder
from programs import Programs

ROOT = Path(__file__).resolve().parents[2]

_MOST_EVENTS = 10**10

_DESCRIPTION = """\
Runs an experiment of "Conditional Probability Tree Estimation Analysis and Algorithms" (Beygelzimer, Langford, Lifshits,
Sorkin, Strehl, UAI 2009) and prints the paper's table and ours side by side. OUT/index.html shows the same with figures.

The programs must be built: launch/demo does it, or cmake as in README.md. Needs python3-matplotlib."""


def main() -> int:
    arguments = _parse()
    programs = Programs(arguments.build)
    try:
        out = OutFolder(arguments.out)
        report = arguments.experiment(programs, arguments, out)
        print(report.text)
        shown = out.anew("index.html")
        shown.write_text(page.render(report), encoding="utf-8")
    except subprocess.CalledProcessError as error:
        print(f"experiments: {' '.join(map(str, error.cmd))} failed ({error.returncode}): {error.stderr}", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1
    print(f"\nFigures: {shown}")
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="experiments", description=_DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release",
                        help="build folder with src/app/cpt_dist and src/app/cpt (default build/release)")
    commands = parser.add_subparsers(required=True, metavar="EXPERIMENT")

    ads = commands.add_parser("web-ads", help="a synthetic page/ad log, beside the paper's results on a real one")
    ads.add_argument("--events", type=_count, default=1_000_000, help="events of the log, 1000 to 10^10 (default 1,000,000)")
    ads.set_defaults(experiment=web_ads.run)

    stories = commands.add_parser("rcv1", help="Reuters stories, each with one of its topics", epilog=rcv1.FILES,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    stories.add_argument("data", metavar="DIR", type=Path, nargs="?",
                         help="the LYRL2004 distribution, or shards in DIR/train and DIR/test "
                         "(default: a sample, made by make.py in the folder CPT_SHARED_DATA, or in ../shared/data beside "
                         "the project)")
    stories.set_defaults(experiment=rcv1.run)

    for command in (ads, stories):
        command.add_argument("--out", type=Path,
                             help="folder to write to: new, empty, or written by an earlier experiment, whose results are then "
                             "replaced (default: build/experiments/EXPERIMENT)")
    arguments = parser.parse_args()
    if arguments.out is None:
        name = "web-ads" if arguments.experiment is web_ads.run else "rcv1"
        arguments.out = ROOT / "build" / "experiments" / name
    return arguments


def _count(text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1000 <= value <= _MOST_EVENTS or not value.is_integer():
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of events, 1000 to {_MOST_EVENTS:,}")
    return int(value)
