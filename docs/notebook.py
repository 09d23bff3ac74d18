"""Runs the example notebook while the pages are built and makes a page of it; a cell that fails fails the build."""

import base64
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

SOURCE = Path(__file__).with_name("example.ipynb")
SECONDS = 300


def on_files(files: Files, config: object, **_: object) -> Files:
    """Called by MkDocs: adds the page and its pictures, which are written into the site alone."""
    page, pictures = page_of(executed(SOURCE))
    files.append(File.generated(config, "example.md", content=page))
    for name, content in pictures.items():
        files.append(File.generated(config, name, content=content))
    return files


def executed(path: Path) -> dict:
    """The notebook with its outputs, run by a kernel of its own in a folder that is gone afterwards."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        homes = {"IPYTHONDIR": f"{folder}/ipython", "JUPYTER_RUNTIME_DIR": f"{folder}/jupyter"}
        work = Path(folder, "work")
        work.mkdir()
        local = Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})  # no port
        client = NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(work)}}, config=local)
        try:
            with patch.dict(os.environ, homes):
                client.execute()
        except CellExecutionError as error:
            raise PluginError(f"{path.name}: {error}") from None
    return json.loads(nbformat.writes(notebook))


def page_of(notebook: dict) -> tuple[str, dict[str, bytes]]:
    """The notebook as Markdown, and its pictures by name."""
    parts, pictures = [], {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for data in _shown(cell):
            if "image/png" in data:
                name = f"example-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![{_alt(data)}]({name})")
            elif "text/html" in data:
                parts.append(_one_line(data["text/html"]))
            else:
                parts.append(f"```text\n{''.join(data['text/plain']).rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures


def _shown(cell: dict) -> Iterator[dict]:
    """What a cell printed and what it showed."""
    for output in cell["outputs"]:
        if output["output_type"] == "stream" and output["name"] == "stdout":
            yield {"text/plain": output["text"]}
        elif output["output_type"] in ("execute_result", "display_data"):
            yield output["data"]


def _alt(data: dict) -> str:
    """The words of a picture, as Markdown takes them."""
    words = " ".join("".join(data.get("text/plain", [])).split())
    return words.replace("[", "(").replace("]", ")").replace("\\", "")


def _one_line(html: list[str] | str) -> str:
    """HTML without line breaks, which Markdown leaves as it is."""
    return " ".join("".join(html).split("\n"))
