"""The C++ files of a tree, and their text without what a checker must not trip over.

source_text.py ROOT SUFFIX... prints the names of such files below ROOT, each followed by a NUL.
"""
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ("src", "include", "tests")

_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<delimiter>[^\s()\\]*)\(.*?\)(?P=delimiter)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'    # but not the ' of 1'000
    """,
    re.DOTALL | re.VERBOSE,
)


def files(root: Path, *suffixes: str) -> list[Path]:
    """All files below src, include and tests with one of these suffixes, in order of name, but none that git ignores."""
    listed = known_to_git(root, *FOLDERS)
    if listed is None:
        paths = (p for folder in FOLDERS for p in (root / folder).rglob("*"))
    else:
        paths = (root / name for name in listed)
    return sorted(p for p in paths if p.suffix in suffixes and p.is_file())


def known_to_git(root: Path, *folders: str) -> list[str] | None:
    """The names of the files that git tracks or would add, below these folders or anywhere; None if root is no checkout."""
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *folders],
                             cwd=root, capture_output=True, text=True, check=False)
    if listing.returncode != 0 or not (root / ".git").exists():
        return None
    return [name for name in listing.stdout.split("\0") if name]


def without_comments(text: str) -> str:
    """The text with comments blanked out; literals stay, and so do line numbers."""
    return _COMMENT_OR_LITERAL.sub(lambda m: _blank(m[0]) if m[0].startswith("/") else m[0], text)


def code_only(text: str) -> str:
    """The text with comments, literals and preprocessor lines blanked out; line numbers stay."""
    text = _COMMENT_OR_LITERAL.sub(lambda m: _blank(m[0]), text)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", lambda m: _blank(m[0]), text, flags=re.MULTILINE)


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


if __name__ == "__main__":
    for path in files(Path(sys.argv[1]), *sys.argv[2:]):
        print(path, end="\0")
