# A document in, its page as Markdown out, after a line that names it.
def section($component; $title):
  [.notes[] | select(.component == $component)] as $notes
  | if $notes == [] then empty
    else "## \($title)", "",
      (["fix", "Fixes"], ["feature", "Features"] | . as [$kind, $name]
        | [$notes[] | select(.kind == $kind)]
        | if . == [] then empty else "### \($name)", "", (.[] | "- \(.text)"), "" end)
    end;

. as $document
| "Northgate Controller \(.version)" as $title
| "\u001e\(.version)",
  "<!DOCTYPE html>",
  "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>\($title)</title></head><body>",
  "",
  "# \($title)", "",
  "Released \(.date)", "",
  .summary, "",
  section("server"; "Server"),
  section("documentation"; "Documentation"),
  section("meta_control_plane"; "Meta Control Plane"),
  "## Downloads", "",
  "<table><tr><th>File</th><th>Type</th><th>Bytes</th><th>SHA-256</th></tr>",
  (.packages[]
    | $document.artifacts["\(.id)"] as $artifact
    | "<tr><td><a href=\"\($artifact.url | @html)\">\(.name | @html)</a></td><td>\(.package_type)</td><td>\($artifact.size)</td><td><code>\(.checksum)</code></td></tr>"),
  "</table>", "",
  "</body></html>"
