"""The standard library, PyYAML with its C parser, and Python-Markdown."""

import json
import os
from html import escape
from pathlib import Path

import yaml
from markdown import Markdown

RELEASES = Path(os.environ["IN"]) / "releases"
OUT = Path(os.environ["OUT"])
COMPONENTS = {
    "server": "Server",
    "documentation": "Documentation",
    "meta_control_plane": "Meta Control Plane",
}
KINDS = {"fixes": "Fixes", "features": "Features"}
SINGULAR = {"fixes": "fix", "features": "feature"}

markdown = Markdown()


def read_ledger():
    added = {}
    with open(RELEASES / "ledger.jsonl", encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["event"] == "add":
                added[event["version"], event["file"]] = event
    return added


def read_packages(version, added):
    packages = []
    for entry in os.scandir(RELEASES / version / "manifests"):
        with open(entry.path, encoding="utf-8") as file:
            manifest = json.load(file)
        for artifact in manifest["artifacts"]:
            event = added[version, artifact["name"]]
            packages.append((record_of(artifact, version, event), artifact))
    return sorted(packages, key=lambda each: each[0]["id"], reverse=True)


def record_of(artifact, version, event):
    parts = ("store", "vendor", "attestation")
    return {
        "id": event["id"],
        "name": artifact["name"],
        "version": version,
        "description": artifact["description"],
        "checksum": artifact["sha256"],
        "operating_system": artifact["operating_system"],
        "min_os_version": artifact["min_os_version"],
        "max_os_version": artifact["max_os_version"],
        "package_type": artifact["package_type"],
        "created_date": event["at"],
        "modified_date": event["at"],
        "data": {part: artifact[part] for part in parts if part in artifact},
        "exclude_from_api": False,
        "gui_only": artifact["gui_only"],
        "headless": artifact["headless"],
        "platform": artifact["platform"],
        "only_for_account": None,
    }


def url_of(record):
    return f"https://downloads.example.com/files/{record['version']}/{record['name']}"


def document_of(release, packages):
    notes = [
        {"component": component, "kind": SINGULAR[kind], "text": text.strip(), "refs": [], "security": False}
        for component, kinds in release["notes"].items()
        for kind, texts in kinds.items()
        for text in texts
    ]
    return {
        "schema_version": 1,
        "version": release["version"],
        "date": str(release["date"]),
        "semver": ".".join(str(int(part)) for part in release["version"].split(".")),
        "released_at": min(record["created_date"] for record, _ in packages),
        "summary": release["summary"].strip(),
        "notes": notes,
        "packages": [record for record, _ in packages],
        "artifacts": {
            record["id"]: {"file": record["name"], "url": url_of(record), "size": artifact["size"]}
            for record, artifact in packages
        },
        "retracted": [],
    }


def html_of(text):
    return markdown.reset().convert(text)


def page_of(release, packages):
    title = f"Northgate Controller {release['version']}"
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        f"<title>{title}</title></head><body>\n<h1>{title}</h1>\n<p>Released {release['date']}</p>\n",
        html_of(release["summary"]),
    ]
    for component, name in COMPONENTS.items():
        if component not in release["notes"]:
            continue
        parts.append(f"<h2>{name}</h2>\n")
        for kind, kind_name in KINDS.items():
            if kind in release["notes"][component]:
                items = [f"<li>{html_of(text)}</li>\n" for text in release["notes"][component][kind]]
                parts.append(f"<h3>{kind_name}</h3>\n<ul>\n{''.join(items)}</ul>\n")
    parts.append("<h2>Downloads</h2>\n<table><tr><th>File</th><th>Type</th><th>Bytes</th><th>SHA-256</th></tr>\n")
    for record, artifact in packages:
        parts.append(
            f'<tr><td><a href="{escape(url_of(record))}">{escape(record["name"])}</a></td>'
            f"<td>{record['package_type']}</td><td>{artifact['size']}</td>"
            f"<td><code>{record['checksum']}</code></td></tr>\n"
        )
    parts.append("</table>\n</body></html>\n")
    return "".join(parts)


def main():
    added = read_ledger()
    (OUT / "releases").mkdir(parents=True)
    records = []
    for path in sorted(RELEASES.glob("*/release.yaml"), reverse=True):
        release = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
        packages = read_packages(release["version"], added)
        records += [record for record, _ in packages]
        target = OUT / "releases" / release["version"]
        document = json.dumps(document_of(release, packages), ensure_ascii=False, separators=(",", ":"))
        target.with_name(f"{target.name}.json").write_text(document, encoding="utf-8")
        target.with_name(f"{target.name}.html").write_text(page_of(release, packages), encoding="utf-8")
    text = json.dumps(records, ensure_ascii=False, separators=(",", ":"))
    (OUT / "list.json").write_text(text, encoding="utf-8")


main()
