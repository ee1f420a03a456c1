"""Every code block of the README, the contributing guide and the docs pages runs.

Executable are the fences ``python`` and ``{code-cell}``; a cell tagged ``raises-exception`` has to raise, and
is tagged with the name of the error beside it. The blocks of one file share a namespace, as they do for a reader; no
two files share one.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import groupoid_mech as gm

ROOT = Path(__file__).parent.parent
BUILT = {"_build", "jupyter_execute"}
DOCS = sorted(page for page in (ROOT / "docs").rglob("*.md") if not BUILT.intersection(page.parts))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]

FENCE = re.compile(r"^(?P<ticks>`{3,}|~{3,})\s*(?P<info>.*?)\s*$")


@dataclass
class Block:
    line: int
    """Number of the first line of code in the file."""
    code: str
    tags: set[str] = field(default_factory=set)

    @property
    def errors(self) -> set[str]:
        """Names of the errors that the block has to raise."""
        return {tag for tag in self.tags if tag.endswith("Error")}


def code_blocks(text: str) -> list[Block]:
    """The executable blocks of a Markdown text, in order."""
    blocks = []
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        opening = FENCE.match(lines[position])
        position += 1
        if opening is None:
            continue
        start = position
        while position < len(lines) and lines[position].strip() != opening["ticks"]:
            position += 1
        body = lines[start:position]
        position += 1
        info = opening["info"]
        if info.startswith("{code-cell}"):
            options = _option_lines(body)
            tags = set(re.findall(r"[\w-]+", " ".join(body[:options])))
            blocks.append(Block(start + options + 1, "\n".join(body[options:]), tags))
        elif info == "python":
            blocks.append(Block(start + 1, "\n".join(body)))
    return blocks


def _option_lines(body: list[str]) -> int:
    """How many lines at the head of a code cell are options, written ``:tags: [...]``."""
    count = 0
    while count < len(body) and body[count].startswith(":"):
        count += 1
    return count


def run_page(text: str, name: str) -> int:
    """Run the blocks of a page; an error names the file and the line. Returns how many were run."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    blocks = code_blocks(text)
    for block in blocks:
        # Leading newlines give the code the line numbers that it has in the file.
        source = "\n" * (block.line - 1) + block.code
        try:
            exec(compile(source, name, "exec"), namespace)
        except Exception as error:
            if "raises-exception" in block.tags and type(error).__name__ in block.errors:
                continue
            raise AssertionError(f"{name}:{_line_of(error, name, block.line)}: {error!r}") from error
        if "raises-exception" in block.tags:
            raise AssertionError(f"{name}:{block.line}: the block should raise, and does not")
    return len(blocks)


def _line_of(error: Exception, name: str, default: int) -> int:
    """The last line of the page in the error's traceback."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == name else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line or default


@pytest.fixture
def closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.usefixtures("closed_figures")
@pytest.mark.parametrize(
    "page",
    # The docs build executes the pages of docs/ too.
    [
        pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=[pytest.mark.pages] * (page in DOCS))
        for page in PAGES
    ],
)
def test_blocks_of_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix())


def test_readme_has_blocks_to_run():
    assert code_blocks((ROOT / "README.md").read_text(encoding="utf-8"))


def test_reference_names_everything_public():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert not set(gm.__all__) - set(re.findall(r"auto\w+:: (?:groupoid_mech\.)?(\w+)$", page, re.MULTILINE))


BROKEN = """# A page

```python
x = 1
```

```{code-cell}
:tags: [hide-output]
y = x + 1
z = y / (x - 1)
```
"""


def test_a_broken_block_is_reported_with_file_and_line():
    with pytest.raises(AssertionError, match=r"page\.md:10: ZeroDivisionError"):
        run_page(BROKEN, "page.md")


def test_a_block_with_a_syntax_error_is_reported_with_file_and_line():
    with pytest.raises(AssertionError, match=r"page\.md:3: SyntaxError"):
        run_page("# A page\n```python\nx = = 1\n```\n", "page.md")


def test_a_cell_that_should_raise_has_to():
    with pytest.raises(AssertionError, match=r"page\.md:3: the block should raise"):
        run_page("```{code-cell}\n:tags: [raises-exception, ValueError]\nx = 1\n```\n", "page.md")
    with pytest.raises(AssertionError, match=r"page\.md:3: ZeroDivisionError"):
        run_page("```{code-cell}\n:tags: [raises-exception, ValueError]\n1 / 0\n```\n", "page.md")
    assert run_page("```{code-cell}\n:tags: [raises-exception, ZeroDivisionError]\n1 / 0\n```\n", "page.md") == 1


def test_other_fences_are_not_run():
    assert run_page("```sh\nmake test\n```\n\n```text\nnot python\n```\n", "page.md") == 0
