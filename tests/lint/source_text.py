"""The C++ files of a tree, and their text without what a checker must not trip over."""
import re
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
    """All files below src, include and tests with one of these suffixes, in order of name."""
    return sorted(p for f in FOLDERS for p in (root / f).rglob("*") if p.suffix in suffixes and p.is_file())


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
