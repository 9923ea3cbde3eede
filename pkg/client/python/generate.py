"""Writes the generated part of lodestone_client from the description of the API: python generate.py DESCRIPTION DIRECTORY."""

import json
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

GENERATED = ("api", "models", "types.py")
HERE = Path(__file__).parent


def simplify_schemas(node: object) -> None:
    """Drops examples; defaults, which the service applies, and a page of 1 beside a cursor is refused; and that ids are UUIDs: they are texts."""
    if isinstance(node, dict):
        node.pop("example", None)
        if "type" in node:  # else a map with this name would be of fields
            node.pop("default", None)
            if node.get("format") == "uuid":
                del node["format"]
        if isinstance(node.get("examples"), list):  # a map with this name would be of fields
            del node["examples"]
        if None in node.get("enum", ()):  # the generator makes three types of one that may be null
            values = [value for value in node.pop("enum") if value is not None]
            node["anyOf"] = [{"type": "string", "enum": values}, {"type": "null"}]
            del node["type"]
        for value in node.values():
            simplify_schemas(value)
    elif isinstance(node, list):
        for value in node:
            simplify_schemas(value)


def simplify(description: dict[str, Any]) -> None:
    """Leaves what a client needs: problems are raised, so answers are those of success; a file has one form."""
    simplify_schemas(description)
    for operations in description["paths"].values():
        for operation in operations.values():
            status, answer = min(operation["responses"].items())
            answer.pop("headers", None)
            if answer.get("content") and "application/json" not in answer["content"]:
                binary = {"schema": {"type": "string", "format": "binary"}}
                answer["content"] = {"application/octet-stream": binary}
            operation["responses"] = {status: answer}
            content = operation.get("requestBody", {}).get("content", {})
            if "text/csv" in content:
                content.clear()
                content["application/octet-stream"] = {"schema": {"type": "string", "format": "binary"}}
            if "multipart/form-data" in content:
                operation["requestBody"]["content"] = {"multipart/form-data": content["multipart/form-data"]}


def write_templates(directory: Path) -> None:
    """Writes our templates, and the generator's for a model, in which the object has another variable than a field of the same name."""
    shutil.copytree(HERE / "templates", directory)
    model = files("openapi_python_client").joinpath("templates", "model.py.jinja").read_text()
    name = "{% set module_name = model.class_info.module_name %}\n"
    other = """{% if module_name in (model.required_properties + model.optional_properties) | map(attribute="python_name") | list %}
{% set module_name = module_name ~ "_" %}
{% endif %}
"""
    if model.count(name) != 1:
        sys.exit("the generator's model.py.jinja does not name its variable as write_templates expects")
    (directory / "model.py.jinja").write_text(model.replace(name, name + other))


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    description = json.loads(source.read_text())
    simplify(description)
    with tempfile.TemporaryDirectory() as directory:
        simple, out = Path(directory, "openapi.json"), Path(directory, "out")
        simple.write_text(json.dumps(description))
        templates = Path(directory, "templates")
        write_templates(templates)
        config = Path(directory, "config.json")
        ruff = str(Path(sys.executable).parent / "ruff")
        config.write_text(
            json.dumps(
                {
                    "literal_enums": True,
                    "post_hooks": [
                        f"{ruff} check . --quiet --fix-only --select=I,F401",
                        f"{ruff} format . --quiet --line-length=120",
                    ],
                }
            )
        )
        made = subprocess.run(
            [str(Path(sys.executable).parent / "openapi-python-client"), "generate", "--path", str(simple), "--meta", "none", "--output-path", str(out),
             "--config", str(config), "--custom-template-path", str(templates), "--fail-on-warning"],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        if made.returncode != 0:
            sys.exit(made.stdout + made.stderr)
        target.mkdir(parents=True, exist_ok=True)
        for name in GENERATED:
            if (target / name).is_dir():
                shutil.rmtree(target / name)
            shutil.move(out / name, target / name)


if __name__ == "__main__":
    main()
