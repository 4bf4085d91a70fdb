import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import glob from "fast-glob";
import Handlebars from "handlebars";
import MarkdownIt from "markdown-it";
import { parse } from "yaml";
import { z } from "zod";

/** What somebody writes in an afternoon with the usual libraries. */
const { IN = "", OUT = "" } = process.env;
const folder = join(IN, "releases");
const markdown = new MarkdownIt();

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const version = z.string().regex(/^\d{2}\.\d{2}\.\d{3}$/);
const perArchitecture = z.object({ arm64: z.string(), x86_64: z.string() });

const attestation = z.object({
  key_id: z.string().optional(),
  sha256: sha256.optional(),
  signature: z.object({ signer: z.string(), display: z.string(), fingerprint: z.string() }).optional(),
  cryptolib_post: z
    .object({ expected_hash: z.string().optional(), expected_hash_per_arch: perArchitecture.optional() })
    .optional(),
  file_signatures: z
    .array(
      z.object({
        name: z.string(),
        signature: z.object({
          signer: z.string(),
          fingerprint: z.string().optional(),
          fingerprint_per_arch: perArchitecture.optional(),
        }),
      }),
    )
    .optional(),
});

const manifestSchema = z.object({
  release: version,
  artifacts: z.array(
    z.object({
      name: z.string(),
      package_type: z.string(),
      description: z.string(),
      operating_system: z.string(),
      platform: z.number(),
      sha256,
      size: z.number(),
      min_os_version: z.string().nullable(),
      max_os_version: z.string().nullable(),
      gui_only: z.boolean(),
      headless: z.boolean(),
      store: z.object({ path: z.string(), size: z.number() }).optional(),
      vendor: z
        .object({ rev: z.string(), image: z.object({ drv: z.string(), derivation: z.string() }) })
        .optional(),
      attestation: attestation.optional(),
    }),
  ),
});

const releaseSchema = z.object({
  version,
  date: z.string(),
  summary: z.string(),
  notes: z.record(z.string(), z.record(z.string(), z.array(z.string()))),
});

type Artifact = z.infer<typeof manifestSchema>["artifacts"][number];

Handlebars.registerHelper(
  "markdown",
  (text: string) => new Handlebars.SafeString(markdown.render(text.trim())),
);
Handlebars.registerHelper(
  "inline",
  (text: string) => new Handlebars.SafeString(markdown.renderInline(text.trim())),
);

const template = Handlebars.compile(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Northgate Controller {{version}}</title></head><body>
<h1>Northgate Controller {{version}}</h1>
<p>Released {{date}}</p>
{{markdown summary}}
{{#each sections}}
<h2>{{title}}</h2>
{{#each kinds}}
<h3>{{title}}</h3>
<ul>{{#each notes}}<li>{{inline this}}</li>{{/each}}</ul>
{{/each}}
{{/each}}
<h2>Downloads</h2>
<table>
<tr><th>File</th><th>Type</th><th>Bytes</th><th>SHA-256</th></tr>
{{#each packages}}
<tr><td><a href="{{url}}">{{record.name}}</a></td><td>{{record.package_type}}</td><td>{{size}}</td><td><code>{{record.checksum}}</code></td></tr>
{{/each}}
</table>
</body></html>
`);

const titles = { server: "Server", documentation: "Documentation", meta_control_plane: "Meta Control Plane" };
const kindTitles = { fixes: "Fixes", features: "Features" };
const kindNames: Record<string, string> = { fixes: "fix", features: "feature" };

const ledger = new Map<string, { id: number; at: string }>();
for (const line of (await readFile(join(folder, "ledger.jsonl"), "utf8")).trim().split("\n")) {
  const event = JSON.parse(line);
  if (event.event === "add") ledger.set(`${event.version}/${event.file}`, event);
}

const releasePaths = await glob("*/release.yaml", { cwd: folder });
await mkdir(join(OUT, "releases"), { recursive: true });

const list = [];
for (const path of releasePaths.sort().reverse()) {
  const release = releaseSchema.parse(parse(await readFile(join(folder, path), "utf8")));
  const packages = [];
  for (const manifestPath of await glob(`${release.version}/manifests/*.json`, { cwd: folder })) {
    const manifest = manifestSchema.parse(JSON.parse(await readFile(join(folder, manifestPath), "utf8")));
    packages.push(...manifest.artifacts.map((artifact) => toPackage(artifact, release.version)));
  }
  packages.sort((a, b) => b.record.id - a.record.id);
  const records = packages.map(({ record }) => record);
  list.push(...records);

  const notes = Object.entries(release.notes).flatMap(([component, kinds]) =>
    Object.entries(kinds).flatMap(([kind, texts]) =>
      texts.map((text) => ({
        component,
        kind: kindNames[kind],
        text: text.trim(),
        refs: [],
        security: false,
      })),
    ),
  );
  const document = {
    schema_version: 1,
    version: release.version,
    date: release.date,
    semver: release.version.split(".").map(Number).join("."),
    released_at: records.map(({ created_date }) => created_date).sort()[0],
    summary: release.summary.trim(),
    notes,
    packages: records,
    artifacts: Object.fromEntries(
      packages.map(({ record, url, size }) => [record.id, { file: record.name, url, size }]),
    ),
    retracted: [],
  };
  await writeFile(join(OUT, "releases", `${release.version}.json`), JSON.stringify(document));

  const sections = Object.entries(titles)
    .filter(([component]) => release.notes[component])
    .map(([component, title]) => ({
      title,
      kinds: Object.entries(kindTitles)
        .filter(([kind]) => release.notes[component]?.[kind])
        .map(([kind, kindTitle]) => ({ title: kindTitle, notes: release.notes[component]?.[kind] })),
    }));
  const html = template({ ...release, sections, packages });
  await writeFile(join(OUT, "releases", `${release.version}.html`), html);
}
await writeFile(join(OUT, "list.json"), JSON.stringify(list));

function toPackage(artifact: Artifact, release: string) {
  const line = ledger.get(`${release}/${artifact.name}`);
  if (!line) throw new Error(`${artifact.name} is not in the ledger`);
  const record = {
    id: line.id,
    name: artifact.name,
    version: release,
    description: artifact.description,
    checksum: artifact.sha256,
    operating_system: artifact.operating_system,
    min_os_version: artifact.min_os_version,
    max_os_version: artifact.max_os_version,
    package_type: artifact.package_type,
    created_date: line.at,
    modified_date: line.at,
    data: { store: artifact.store, vendor: artifact.vendor, attestation: artifact.attestation },
    exclude_from_api: false,
    gui_only: artifact.gui_only,
    headless: artifact.headless,
    platform: artifact.platform,
    only_for_account: null,
  };
  return {
    record,
    size: artifact.size,
    url: `https://downloads.example.com/files/${release}/${artifact.name}`,
  };
}
